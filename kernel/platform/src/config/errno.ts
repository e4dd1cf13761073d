/** The system's code of an error (`ENOENT`), where it has one. */
export const errnoOf = (error: unknown): string | undefined => (error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : undefined);
