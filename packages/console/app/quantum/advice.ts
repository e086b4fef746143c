/** What is done next about a job that did not complete. */
export type JobStep = "input" | "log" | "run" | "backend";

interface Advice {
  readonly meaning: string;
  readonly advice: string;
  readonly next: JobStep;
}

/** Codes that backends choose (guide of the SDK): what they mean, and what to do. Those of every execution are explained beside these. */
const BACKEND_CODES: Readonly<Record<string, Advice>> = {
  CIRCUIT_FORMAT_UNSUPPORTED: {
    meaning: "The backend does not read this format or version.",
    advice: "Send the circuit in a format that its page lists: OpenQASM 3 is read by most.",
    next: "backend",
  },
  CIRCUIT_INVALID: {
    meaning: "The circuit cannot be read.",
    advice: "Look at what the detail names, correct the circuit, and send it again.",
    next: "input",
  },
  CIRCUIT_TOO_LARGE: {
    meaning: "The circuit has more operations, or the problem more variables, than the backend takes.",
    advice: "Send a smaller one, or several jobs.",
    next: "input",
  },
  TOO_MANY_QUBITS: {
    meaning: "The circuit is wider than the backend.",
    advice: "Choose a backend with more qubits, or a method that takes more of them.",
    next: "backend",
  },
  TOO_MANY_CIRCUITS: {
    meaning: "The job has more circuits than the backend takes at one time.",
    advice: "Send them in several jobs.",
    next: "backend",
  },
  SHOTS_OUT_OF_RANGE: {
    meaning: "The backend does not run so many shots, or so few.",
    advice: "Ask for a number within the range on its page.",
    next: "backend",
  },
  GATE_UNSUPPORTED: {
    meaning: "The circuit has a gate that the backend does not run.",
    advice: "Transpile the circuit for the backend first: in Qiskit, transpile(circuit, backend).",
    next: "backend",
  },
  INVALID_INPUT: {
    meaning: "The input or an option has not the form that the backend expects.",
    advice: "Change what the detail names, and send it again.",
    next: "input",
  },
  BACKEND_OFFLINE: {
    meaning: "The backend took no jobs.",
    advice: "Run it again when the backend is online.",
    next: "backend",
  },
  VENDOR_REJECTED: {
    meaning: "The vendor of the hardware has refused the job.",
    advice: "The detail says why. Correct it, and send it again.",
    next: "log",
  },
  VENDOR_ERROR: {
    meaning: "The hardware, or the vendor's service for it, has failed.",
    advice: "The circuit is not at fault. Run it again, later perhaps.",
    next: "run",
  },
};

/** What a code of a backend means and what to do; null: the backend has a code of its own, or it is one of every execution. */
export function explainBackendCode(code: string): Advice | null {
  return Object.hasOwn(BACKEND_CODES, code) ? (BACKEND_CODES[code] ?? null) : null;
}
