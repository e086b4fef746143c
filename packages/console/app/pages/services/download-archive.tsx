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
      fileName={`${version}.zip`}
      ask={(api) => api.downloadArchive({ params: { key: serviceKey, version } })}
    >
      Download
    </DownloadButton>
  );
}
