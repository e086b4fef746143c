/** A machine for programs of classic BPF as seccomp runs them (Documentation/networking/filter.rst), for tests of filters. */

/** What the kernel tells a filter about a system call (struct seccomp_data). */
export interface SystemCall {
  /** AUDIT_ARCH_*. */
  readonly architecture: number;
  readonly number: number;
  readonly args?: readonly (number | bigint)[];
}

/** "allow", or the number of the error that the caller gets. */
export type Decision = "allow" | { readonly errno: number };

const MAX_INSTRUCTIONS = 4096;

function encodeCall({ architecture, number, args = [] }: SystemCall): DataView {
  const data = new DataView(new ArrayBuffer(64));
  data.setUint32(0, number, true);
  data.setUint32(4, architecture, true);
  args.forEach((value, index) => data.setBigUint64(16 + 8 * index, BigInt.asUintN(64, BigInt(value)), true));
  return data;
}

function readDecision(value: number): Decision {
  if (value === 0x7fff_0000) return "allow";
  if (value >>> 16 === 0x0005) return { errno: value & 0xffff };
  throw new Error(`The program returned 0x${value.toString(16)}.`);
}

/** The decision of a program over a call. @throws Error where the kernel would refuse the program. */
export function runBpf(program: Buffer, call: SystemCall): Decision {
  const data = encodeCall(call);
  const count = program.length / 8;
  if (!Number.isInteger(count) || count === 0 || count > MAX_INSTRUCTIONS)
    throw new Error(`${count} instructions`);
  let accumulator = 0;
  for (let index = 0; index < count; index += 1) {
    const code = program.readUInt16LE(index * 8);
    const [whenTrue, whenFalse] = [program.readUInt8(index * 8 + 2), program.readUInt8(index * 8 + 3)];
    const operand = program.readUInt32LE(index * 8 + 4);
    switch (code) {
      case 0x20:
        accumulator = data.getUint32(operand, true);
        break;
      case 0x54:
        accumulator = (accumulator & operand) >>> 0;
        break;
      case 0x05:
        index += operand;
        break;
      case 0x15:
        index += accumulator === operand ? whenTrue : whenFalse;
        break;
      case 0x35:
        index += accumulator >= operand ? whenTrue : whenFalse;
        break;
      case 0x06:
        return readDecision(operand);
      default:
        throw new Error(`There is no instruction 0x${code.toString(16)}.`);
    }
  }
  throw new Error("The program ends without a decision.");
}
