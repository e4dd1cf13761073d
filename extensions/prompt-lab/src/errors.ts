import { defineErrors } from '@svc/api';

export const promptErrors = defineErrors('prompt_lab', {
  off: { status: 404, retry: false, message: () => 'Prompt versions and experiments are off.', hint: 'Set enabled = true under [prompt_intelligence] in config.toml.' },
  version_not_found: { status: 404, retry: false, message: (id: string) => `There is no prompt version ${id}.`, hint: 'GET /agents/{agent_id}/prompts/versions lists those of an agent.' },
  experiment_not_found: { status: 404, retry: false, message: (id: string) => `There is no experiment ${id}.`, hint: 'GET /agents/{agent_id}/prompts/experiments lists those of an agent.' },
  in_use: { status: 409, retry: false, message: (why: string) => `This version can't be deleted: ${why}.`, hint: 'Activate another version, or complete the experiment, first.' },
  version_gone: {
    status: 409,
    retry: false,
    message: (id: string) => `The experiment compares the prompt version ${id}, which was deleted.`,
    hint: 'Create another experiment with versions that are there.',
  },
  bad_split: { status: 400, retry: false, message: (why: string) => `The traffic split is wrong: ${why}.`, hint: 'Give one whole number of percent for each variant; together they are 100.' },
  not_of_agent: { status: 400, retry: false, message: (id: string) => `The agent has no prompt version ${id}.`, hint: 'Use versions of the agent that the experiment is for.' },
  bad_move: {
    status: 409,
    retry: false,
    message: (from: string, to: string) => `An experiment that is ${from} can't become ${to}.`,
    hint: 'A draft is started, a running one paused or completed, a paused one started or completed.',
  },
  one_runs: { status: 409, retry: false, message: () => 'Another experiment of this agent is running.', hint: 'Pause or complete it first.' },
  no_variant: { status: 400, retry: false, message: (id: string) => `The experiment has no variant ${id}.`, hint: 'GET the experiment: its variants have ids.' },
});
