import { defineErrors } from '@svc/api';

const short = (text: string): string => text.slice(0, 300);
const listHint = '`svc media providers` lists what each provider makes and whether it has a key.';
const saidHint = 'The text after the colon comes from the provider.';

export const mediaErrors = defineErrors('media', {
  invalid: { status: 400, retry: false, message: (what: string) => `The request cannot be used: ${short(what)}.`, hint: 'The documentation of the operation lists its fields.' },
  unknown_provider: { status: 400, retry: false, message: (name: string) => `There is no provider named "${short(name)}".`, hint: listHint },
  not_supported: { status: 400, retry: false, message: (name: string, what: string) => `${short(name)} cannot be used for ${what} here.`, hint: listHint },
  no_provider: {
    status: 400,
    retry: false,
    message: (what: string, name: string) => `No provider for ${what} has an API key. Add one with \`svc providers set-key ${name}\`.`,
    hint: listHint,
  },
  key_missing: {
    status: 400,
    retry: false,
    message: (name: string) => `${short(name)} has no API key. Add it with \`svc providers set-key ${short(name)}\`.`,
    hint: listHint,
  },
  content_refused: { status: 400, retry: false, message: (name: string, said: string) => `${name} refused the content of the request: ${short(said)}`, hint: `Change the text. ${saidHint}` },
  rejected: { status: 400, retry: false, message: (name: string, said: string) => `${name} rejected the request: ${short(said)}`, hint: saidHint },
  task_not_found: {
    status: 404,
    retry: false,
    message: (id: string) => `There is no video task ${short(id)} of this provider.`,
    hint: 'Use the task_id and the provider of the answer that began it.',
  },
  rate_limited: { status: 429, retry: true, message: (name: string) => `${name} takes no more requests at the moment.`, hint: 'Try again in a minute, or name another provider.' },
  no_audio: {
    status: 400,
    retry: false,
    message: () => 'The request has no recording.',
    hint: 'Send the bytes as the body, with a Content-Type such as audio/mpeg, or as the field `file` of a form.',
  },
  not_audio: { status: 400, retry: false, message: (type: string) => `"${short(type)}" is not a type of sound.`, hint: 'Send mp3, wav, ogg, flac, m4a or webm, with its Content-Type (audio/…).' },
  path_denied: { status: 403, retry: false, message: (path: string) => `"${short(path)}" is no file of the workspace that can be used here.`, hint: 'Name a file by its path from the workspace.' },
  unauthorized: { status: 502, retry: false, message: (name: string) => `${name} refused the API key.`, hint: 'Set a working key with `svc providers set-key`.' },
  credit: { status: 502, retry: false, message: (name: string) => `${name} says that the account has no credit.`, hint: 'Add credit at the provider, or name another provider.' },
  upstream_failed: { status: 502, retry: true, message: (name: string, said: string) => `${name} failed: ${short(said)}`, hint: `Try again, or name another provider. ${saidHint}` },
  outcome_unknown: {
    status: 502,
    retry: false,
    message: (name: string) => `svc stopped while ${name} was asked, so it is unknown whether the video was begun. It is not asked again by itself.`,
    hint: 'Start it again if you still want it.',
  },
  too_slow: { status: 502, retry: true, message: (name: string, secs: number) => `${name} did not finish within ${secs} s.`, hint: 'Raise video_timeout_secs or request_timeout_secs in [media].' },
});
