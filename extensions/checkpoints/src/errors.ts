import { defineErrors } from '@svc/api';

const LIST = 'svc checkpoints list AGENT lists them.';

export const checkpointErrors = defineErrors('checkpoints', {
  relative_folder: {
    status: 400,
    retry: false,
    message: (path: string) => `working_dir has to be an absolute path; "${path}" is not.`,
    hint: 'GET /api/checkpoints?agent_id=… answers with the working folder of an agent.',
  },
  root_refused: {
    status: 404,
    retry: false,
    message: (path: string) => `${path} is not the working folder of an agent.`,
    hint: 'Only workspaces of agents have checkpoints, never your home folder, / or a mount.',
  },
  bad_root: { status: 409, retry: false, message: (detail: string) => `The working folder can't be used: ${detail}.`, hint: 'Make it a plain folder again.' },
  bad_commit: { status: 400, retry: false, message: (commit: string) => `"${commit}" is not a commit id. It has 4 to 40 hexadecimal digits.`, hint: LIST },
  ambiguous: { status: 409, retry: false, message: (commit: string) => `More than one object begins with ${commit}.`, hint: 'Give more digits.' },
  none: { status: 404, retry: false, message: (folder: string) => `There are no checkpoints of ${folder}.`, hint: 'One is taken before a tool changes a file there.' },
  not_found: { status: 404, retry: false, message: (commit: string) => `There is no checkpoint ${commit}.`, hint: LIST },
  broken: {
    status: 409,
    retry: false,
    message: (folder: string) => `The snapshot repository of ${folder} is damaged.`,
    hint: 'Nothing was changed. `git fsck` in the folder that the log names shows the damage. The next checkpoint starts a new repository.',
  },
});
