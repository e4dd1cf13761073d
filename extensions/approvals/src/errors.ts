import { defineErrors } from '@svc/api';

const seconds = (ms: number): string => `${Math.ceil(ms / 1_000)} s`;

export const approvalErrors = defineErrors('approvals', {
  not_found: { status: 404, retry: false, message: (id: string) => `There is no approval request ${id}.`, hint: 'GET /api/approvals lists yours.' },
  some_not_found: {
    status: 404,
    retry: false,
    message: (ids: readonly string[]) => `There are no approval requests ${ids.slice(0, 5).join(', ')}. None of the requests was changed.`,
    hint: 'GET /api/approvals lists yours. Leave these ids out.',
  },
  resolved: {
    status: 409,
    retry: false,
    message: (id: string, state: string) => `The approval request ${id} was already ${state}.`,
    hint: 'Nothing was changed. GET /api/approvals/{id} says who decided.',
  },
  some_resolved: {
    status: 409,
    retry: false,
    message: (ids: readonly string[]) => `These approval requests are no longer pending: ${ids.slice(0, 5).join(', ')}. None of the requests was changed.`,
    hint: 'List the pending requests again and leave these ids out.',
  },
  too_many: {
    status: 429,
    retry: true,
    message: (agent: string, limit: number) => `The agent ${agent} has ${limit} pending approval requests, which is the limit.`,
    hint: 'Decide some of them first.',
  },
  no_action: { status: 400, retry: false, message: () => 'The request names no action.', hint: 'Say in `action` what is to be done.' },
  payload_too_large: { status: 413, retry: false, message: (limit: number) => `The payload is larger than ${limit} bytes.`, hint: 'Send less, or the path of a file.' },
  cannot_remember: { status: 400, retry: false, message: (why: string) => `This decision cannot be remembered: ${why}.`, hint: 'Approve it without `remember`.' },
  grant_not_found: { status: 404, retry: false, message: (id: string) => `There is no remembered approval ${id}.`, hint: 'GET /api/approval-grants lists yours.' },
  totp_required: { status: 400, retry: false, message: () => 'A code from your authenticator is needed to approve this.', hint: 'Send it as `totp_code`. A recovery code works too.' },
  totp_in_batch: {
    status: 400,
    retry: false,
    message: (ids: readonly string[]) => `These approval requests need a code each: ${ids.slice(0, 5).join(', ')}. None of the requests was changed.`,
    hint: 'Approve them one by one, with `totp_code`.',
  },
  totp_not_enrolled: { status: 400, retry: false, message: () => 'No authenticator is set up for you.', hint: 'Set one up first: svc approvals totp setup, or POST /api/approvals/totp/setup.' },
  totp_nothing_to_confirm: { status: 409, retry: false, message: () => 'There is no authenticator that waits for confirmation.', hint: 'Begin with POST /api/approvals/totp/setup.' },
  totp_current_code: { status: 400, retry: false, message: () => 'An authenticator is already set up for you.', hint: 'Send a code from it as `current_code` to replace it.' },
  totp_invalid: { status: 400, retry: false, message: () => 'The code is not valid.', hint: 'Codes change every 30 seconds. Check the clock of your phone and of this machine.' },
  totp_replayed: { status: 400, retry: false, message: () => 'This code was already used.', hint: 'Wait for the next code: each works once.' },
  totp_locked: {
    status: 400,
    retry: true,
    message: (waitMs: number) => `Too many wrong codes. Codes are not checked for the next ${seconds(waitMs)}.`,
    hint: 'Wait, then send the code that your authenticator shows.',
  },
  totp_secret_gone: {
    status: 409,
    retry: false,
    message: () => 'The vault no longer holds the secret of your authenticator, so no code can be checked.',
    hint: 'Restore the vault. If it is lost, set second_factor = "none" in config.toml, set up a new authenticator, and switch it on again.',
  },
  totp_changed: { status: 409, retry: true, message: () => 'Your authenticator was changed at the same time.', hint: 'GET /api/approvals/totp/status shows the current state.' },
});
