import { Skeleton, Text } from "@mantine/core";
import { q, useFetched } from "../../api/queries.ts";
import { CalibrationTables } from "../../quantum/calibration-tables.tsx";
import { Failure } from "../../ui/failure.tsx";

/** Errors, durations and coherence, as the backend describes them. */
export function Calibration({ id }: { readonly id: string }) {
  const { data, error, retry } = useFetched(q("getBackendCalibration", { params: { backendId: id } }));
  if (error !== null) return <Failure error={error} retry={retry} />;
  if (data === undefined) return <Skeleton h={240} />;
  if (data === null) return <Text c="dimmed">Its version has no calibration any more.</Text>;
  return <CalibrationTables of={data} fileName={`${id}-calibration.json`} />;
}
