import { defineErrors } from '@svc/api';

export const templateErrors = defineErrors('templates', {
  not_found: { status: 404, retry: false, message: (name: string) => `There is no template "${name.slice(0, 80)}".`, hint: 'GET /api/templates lists them.' },
  too_large: {
    status: 413,
    retry: false,
    message: (name: string, bytes: number, limit: number) => `The template ${name} has ${bytes} bytes; at most ${limit} are read.`,
    hint: 'Move long texts into files of the workspace.',
  },
  unreadable: {
    status: 409,
    retry: false,
    message: (name: string) => `The file templates/${name}.toml in the home folder cannot be read as text.`,
    hint: 'Its format is that of agent.toml, in UTF-8.',
  },
  unusable: {
    status: 409,
    retry: false,
    message: (name: string, why: string) => `The template ${name} cannot be used: ${why}`,
    hint: 'Correct the file templates/NAME.toml in the home folder. GET /api/templates/{name}/toml shows it as it is.',
  },
});
