/** The version of this package: what the `api` range of an extension.json is held to. VERSIONS.md says what a new one means. */
export const API_VERSION = '0.1.0';
