import { Skeleton, Text } from "@mantine/core";
import { q, useFetched } from "../../api/queries.ts";
import { CalibrationTables } from "../../quantum/calibration-tables.tsx";
import { Failure } from "../../ui/failure.tsx";

/** What the backend had said of its qubits and gates when it ran the job: that of its version, which never changes. */
export function JobCalibration({ id }: { readonly id: string }) {
  const { data, error, retry } = useFetched(q("getQuantumJobCalibration", { params: { id } }));
  if (error !== null) return <Failure error={error} retry={retry} />;
  if (data === undefined) return <Skeleton h={240} />;
  if (data === null)
    return <Text c="dimmed">The version of the backend that runs the job has no calibration.</Text>;
  return <CalibrationTables of={data} fileName={`${id}-calibration.json`} />;
}
