import type { RequestOf } from "../api/client.ts";
import { isOfWhatIsSent } from "../api/explain-error.ts";
import { useChange } from "../api/queries.ts";

type NewService = RequestOf<"createService">["body"];
/** Which part of the number is raised, where there is a version. */
export type Bump = NonNullable<NonNullable<RequestOf<"createVersion">["query"]>["bump"]>;

/** What becomes a version. */
interface ProjectUpload {
  readonly body: Uint8Array<ArrayBuffer>;
  readonly bump: Bump;
}

/** Uploads projects: as a version of a service that there is (`toService`), or with a service of their own (`asService`). */
export function useUpload() {
  const createService = useChange("createService", { refresh: ["listServices"] });
  const deleteService = useChange("deleteService", { refresh: ["listServices"] });
  const createVersion = useChange("createVersion", { refresh: ["listVersions", "listBuilds", "getService"] });
  const toService = async (key: string, { body, bump }: ProjectUpload) => {
    const { version, terminal } = await createVersion.run({ params: { key }, query: { bump }, body });
    return { key, version, terminal };
  };
  const asService = async (service: NewService, upload: ProjectUpload) => {
    const { key } = await createService.run({ body: service });
    try {
      return await toService(key, upload);
    } catch (error) {
      // The platform checks an archive once its service is there. What may succeed later, or has although its answer was lost, goes on with it.
      // Nobody waits for its removal to be told; what is sent meanwhile finds the service, or makes another one.
      if (isOfWhatIsSent(error)) void deleteService.run({ params: { key } }).catch(() => undefined);
      throw error;
    }
  };
  return { toService, asService };
}
