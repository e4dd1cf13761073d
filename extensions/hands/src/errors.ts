import { defineErrors, isSvcError } from '@svc/api';

export const handErrors = defineErrors('hands', {
  not_found: { status: 404, retry: false, message: (id: string, near: string) => `There is no hand "${id.slice(0, 80)}".${near}`, hint: 'GET /api/hands lists the hands that are installed.' },
  instance_not_found: { status: 404, retry: false, message: (id: string) => `There is no active hand ${id.slice(0, 80)}.`, hint: 'GET /api/hands/active lists yours.' },
  not_in_registry: {
    status: 404,
    retry: false,
    message: (slug: string) => `There is no hand "${slug.slice(0, 80)}" in the folder registry/hands of the home.`,
    hint: 'Send the text of its HAND.toml as toml_content instead.',
  },
  nothing_to_install: {
    status: 400,
    retry: false,
    message: () => 'The request names no hand.',
    hint: 'Send the text of a HAND.toml as toml_content, or the name of one in registry/hands as slug; one of both.',
  },
  bad_manifest: { status: 400, retry: false, message: (why: string) => `The HAND.toml cannot be used: ${why}`, hint: 'Correct the file, and send it again.' },
  suspicious: {
    status: 400,
    retry: false,
    message: (findings: readonly string[]) => `Texts of this hand look like orders that were slipped in: ${findings.join('; ')}.`,
    hint: 'Read these texts. If they are what you want, send the request again with accept_findings = true.',
  },
  exists: { status: 409, retry: false, message: (id: string) => `A hand "${id}" is installed already.`, hint: 'Uninstall it first, or give this one another id.' },
  built_in: { status: 404, retry: false, message: (id: string) => `The hand "${id}" comes with svc and cannot be uninstalled.`, hint: 'Deactivate it if you do not want it to run.' },
  in_use: {
    status: 409,
    retry: false,
    message: (id: string, count: number) => `The hand "${id}" has ${count === 1 ? 'an active instance' : `${count} active instances`}.`,
    hint: 'Deactivate it first: GET /api/hands/active lists yours.',
  },
  already_active: {
    status: 409,
    retry: false,
    message: (id: string) => `The hand "${id}" is active already.`,
    hint: 'Deactivate it first, or name an instance_id (a UUID) of your own to have another one.',
  },
  busy: { status: 409, retry: true, message: (id: string) => `The active hand ${id} was changed by somebody else meanwhile.`, hint: 'Read it again, and repeat the request.' },
  unknown_setting: {
    status: 400,
    retry: false,
    message: (hand: string, key: string, near: string) => `The hand "${hand}" has no setting "${key.slice(0, 80)}".${near}`,
    hint: 'GET /api/hands/{hand_id}/settings lists its settings.',
  },
  bad_setting: {
    status: 400,
    retry: false,
    message: (key: string, expected: string) => `The setting "${key}" must be ${expected}.`,
    hint: 'GET /api/hands/{hand_id}/settings lists the values that a setting may have.',
  },
  env_setting: {
    status: 400,
    retry: false,
    message: (key: string, name: string) => `The setting "${key}" is the environment variable ${name}, which svc neither stores nor shows.`,
    hint: 'Set the variable where the daemon starts.',
  },
  no_base: {
    status: 400,
    retry: false,
    message: (role: string, base: string) => `The role "${role}" is based on the template "${base}", which is not there.`,
    hint: 'GET /api/templates lists the templates.',
  },
});

/** What went wrong, in one line for another sentence. */
export const reasonOf = (error: unknown): string => (isSvcError(error) || error instanceof Error ? error.message : String(error)).split('\n')[0] ?? '';
