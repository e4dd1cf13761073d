/** The tool that reads a stored result page by page. */
import { type AnyTool, defineTool, Type } from '@svc/api';
import { READ_ARTIFACT } from '../contract.js';
import { toolErrors } from '../errors.js';
import { ARTIFACT_ID, type Artifacts } from './artifacts.js';

/** Of one page; in UTF-8 it is three times as much at most. */
const MAX_PAGE_CHARS = 16_000;
const DEFAULT_PAGE_CHARS = 8_000;

export const readArtifactTool = (artifacts: Pick<Artifacts, 'read'>): AnyTool =>
  defineTool({
    name: READ_ARTIFACT,
    description: 'Reads more of a long result of one of your tool calls. The result names its handle.',
    params: Type.Object({
      handle: Type.String({ minLength: 1, maxLength: 100, description: 'As art_…' }),
      offset: Type.Optional(Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER, default: 0, description: 'The character to begin at' })),
      length: Type.Optional(Type.Integer({ minimum: 1, maximum: MAX_PAGE_CHARS, default: DEFAULT_PAGE_CHARS, description: 'Characters to read' })),
    }),
    risk: 'read',
    // What others wrote in it is named by the origin of each page.
    openWorld: false,
    replay: 'safe',
    parallel: true,
    run: async ({ handle, offset = 0, length = DEFAULT_PAGE_CHARS }, call) => {
      const page = call.agentId === '' || !ARTIFACT_ID.test(handle) ? undefined : await artifacts.read(call, handle, offset, length);
      if (!page) throw toolErrors.no_artifact(handle);
      const { text, next, chars, totalChars, origin } = page;
      const end = next === null ? (chars < totalChars ? `This is the end of what is stored; the whole result had ${totalChars}.` : 'This is the end.') : `The next page begins at offset ${next}.`;
      return { content: `${text}\n\n[characters ${Math.min(offset, chars)} to ${Math.min(offset, chars) + text.length} of ${chars}. ${end}]`, ...(origin ? { origin } : {}) };
    },
  });
