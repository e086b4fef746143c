/** What is served here is no service of a platform: its key in events and messages. */
export const LOCAL_SERVICE_KEY = "00000000-0000-0000-0000-000000000000";
/** The version in events and messages: each edit makes another. */
export const LOCAL_VERSION = "local";
