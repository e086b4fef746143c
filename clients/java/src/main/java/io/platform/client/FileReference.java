package io.platform.client;

/** A JSON file of a data pool, or a part of it, in place of `data` or `params`; a pointer of null: the whole file. */
public record FileReference(String dataPoolId, String dataSourceDescriptorId, String fileId, String pointer) {
    public FileReference(String dataPoolId, String dataSourceDescriptorId, String fileId) {
        this(dataPoolId, dataSourceDescriptorId, fileId, null);
    }
}
