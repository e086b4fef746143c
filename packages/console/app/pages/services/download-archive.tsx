import { DownloadButton } from "../../ui/download-button.tsx";

interface DownloadArchiveProps {
  readonly serviceKey: string;
  readonly version: string;
}

/** The project as it was uploaded. */
export function DownloadArchive({ serviceKey, version }: DownloadArchiveProps) {
  return (
    <DownloadButton
      op="downloadArchive"
      request={{ params: { key: serviceKey, version } }}
      fileName={`${version}.zip`}
    >
      Download
    </DownloadButton>
  );
}
