/** Of a preview, what the page and the terminal show alike. */
type Truncated = { readonly truncated: boolean };
type Cuttable = { readonly kind: 'diff'; readonly files: readonly Truncated[] } | { readonly kind: 'request' } | ({ readonly kind: 'command' | 'arguments' } & Truncated);

/** Whether the arguments say more than the preview. */
export const isCut = (preview: Cuttable): boolean => (preview.kind === 'diff' ? preview.files.some(({ truncated }) => truncated) : preview.kind !== 'request' && preview.truncated);

/** Each word by itself, so that nobody takes two for one. */
export const quoted = (word: string): string => (/^[A-Za-z0-9_@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`);
