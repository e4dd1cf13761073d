/** The workers of code_search: which entries of folders count, and which lines of files match. Both validate by patterns that somebody else wrote, and are ended when they take too long. */
import { type Plain, Type, defineWorker } from '@svc/api';

export const SiftInput = Type.Object({
  /** Texts of ignore files, each with the folder that it stands in: '' is the workspace. */
  rules: Type.Array(Type.Object({ folder: Type.String(), text: Type.String() })),
  folders: Type.Array(
    Type.Object({
      /** With a slash at the end; '' is the workspace. */
      folder: Type.String(),
      /** Places in `rules` that hold here, the outermost first. */
      rules: Type.Array(Type.Integer()),
      files: Type.Array(Type.String()),
      folders: Type.Array(Type.String()),
    }),
  ),
  glob: Type.Union([Type.String(), Type.Null()], { description: 'Files that fit it count; in the form of a line of .gitignore' }),
});
export type SiftInput = Plain<typeof SiftInput>;

export const SiftOutput = Type.Object({ files: Type.Array(Type.String()), folders: Type.Array(Type.Object({ folder: Type.String(), rules: Type.Array(Type.Integer()) })) });
export type SiftOutput = Plain<typeof SiftOutput>;

export const SiftEntries = defineWorker('tools.sift-entries', { input: SiftInput, output: SiftOutput });

export const SearchInput = Type.Object({
  query: Type.String(),
  isCaseSensitive: Type.Boolean(),
  context: Type.Integer({ description: 'Lines before and after' }),
  /** Matches that are wanted still; others are counted. */
  room: Type.Integer(),
  files: Type.Array(Type.Object({ path: Type.String(), text: Type.String() })),
});
export type SearchInput = Plain<typeof SearchInput>;

const Line = Type.Object({ number: Type.Integer(), text: Type.String() });
export const FoundLine = Type.Object({ path: Type.String(), line: Line, before: Type.Array(Line), after: Type.Array(Line) });
export type FoundLine = Plain<typeof FoundLine>;

export const SearchOutput = Type.Object({
  problem: Type.Optional(Type.String({ description: 'Why the query is not a valid pattern' })),
  found: Type.Array(FoundLine),
  more: Type.Integer({ description: 'Matching lines beyond those' }),
});
export type SearchOutput = Plain<typeof SearchOutput>;

export const SearchLines = defineWorker('tools.search-lines', { input: SearchInput, output: SearchOutput });
