import { type AnyTool, defineTool, isSvcError, Type } from '@svc/api';
import { parsePatch } from './patch-format.js';
import { carryOut, type Change, planPatch } from './patch-plan.js';
import { diffPreview } from './previews.js';
import type { Workspaces } from './workspace.js';

const MAX_PATCH_CHARS = 2_000_000;

export const applyPatchTool = (workspaces: Workspaces): AnyTool =>
  defineTool({
    name: 'apply_patch',
    description:
      'Changes files of your workspace, all or none. Write the text between "*** Begin Patch" and "*** End Patch", in sections: "*** Add File: path" followed by lines that begin with +; "*** Update File: path" (optionally "*** Move to: path"), followed by hunks that begin with @@ and contain lines that begin with a space (unchanged), - (removed) or + (added); "*** Delete File: path".',
    params: Type.Object({ patch: Type.String({ minLength: 1, maxLength: MAX_PATCH_CHARS }) }),
    risk: 'write',
    openWorld: false,
    capabilities: ['file_system'],
    needs: ({ patch }) => pathsOf(patch).map((target) => ({ capability: 'file_system', target })),
    writes: ({ patch }) => pathsOf(patch),
    // The second time, the lines it looks for are gone.
    replay: 'never',
    parallel: false,
    preview: async ({ patch }, call) => diffPreview(await planPatch(workspaces.of(call), parsePatch(patch))),
    run: async ({ patch }, call) => {
      const dir = workspaces.of(call);
      const changes = await planPatch(dir, parsePatch(patch));
      if (changes.length === 0) return 'The files already are as the patch wants them; nothing was changed.';
      await carryOut(dir, changes);
      return changes.map(describe).join('\n');
    },
  });

/** A patch that cannot be read touches no file: running it says why. */
const pathsOf = (patch: string): string[] => {
  try {
    return parsePatch(patch).flatMap((section) => (section.kind === 'update' && section.moveTo !== null ? [section.path, section.moveTo] : [section.path]));
  } catch (error) {
    if (isSvcError(error)) return [];
    throw error;
  }
};

const describe = ({ path, before, after }: Change): string => `${before === null ? 'Added' : after === null ? 'Deleted' : 'Updated'} ${path}`;
