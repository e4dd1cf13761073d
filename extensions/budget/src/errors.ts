import { defineErrors } from '@svc/api';

export const budgetErrors = defineErrors('budget', {
  agent_not_found: { status: 404, retry: false, message: (idOrName: string) => `There is no agent "${idOrName.slice(0, 60)}".`, hint: 'Give its id or its name: `svc agent list` shows both.' },
  agent_unknown: {
    status: 400,
    retry: false,
    message: (text: string) => `"${text.slice(0, 60)}" is not the id of an agent, and no agent of yours has this name.`,
    hint: 'Give its id or its name: `svc agent list` shows both.',
  },
  too_small: {
    status: 400,
    retry: false,
    message: (name: string, usd: number) => `${name} is ${usd} US dollars. Limits are counted in millionths, and less would be no limit at all.`,
    hint: 'Give at least 0.000001, or 0 for no limit.',
  },
  not_set: {
    status: 409,
    retry: false,
    message: (path: string, why: string) => `${path} was written, but it does not hold: ${why}`,
    hint: 'Correct config.toml. `svc doctor` names the line.',
  },
});
