import { defineErrors } from '@svc/api';

export const pairingErrors = defineErrors('pairing', {
  off: { status: 404, retry: false, message: () => 'Pairing is off.', hint: 'Set enabled = true under [pairing] in config.toml.' },
  not_found: { status: 404, retry: false, message: (id: string) => `There is no device ${id}.`, hint: 'GET /api/pairing/devices lists yours.' },
  needs_key: { status: 409, retry: false, message: () => 'This daemon has no API key, so every caller is the owner and a device needs no code.', hint: 'Create a key first: svc key new --write.' },
  by_device: { status: 403, retry: false, message: () => 'A device can neither pair another one nor change a role.', hint: 'Use your key or your browser login.' },
  role_too_high: {
    status: 403,
    retry: false,
    message: (role: string, own: string) => `A device can't have the role ${role}: yours is ${own}.`,
    hint: 'Choose your role, or one below it: admin, user, viewer.',
  },
  too_many_codes: { status: 400, retry: true, message: (most: number) => `${most} codes of yours are waiting for a device.`, hint: 'Use one of them, or wait until they expire.' },
  too_many_devices: {
    status: 409,
    retry: false,
    message: (most: number) => `You have ${most} devices, which is the limit.`,
    hint: 'Remove one: svc devices remove ID. Or raise max_devices under [pairing] in config.toml.',
  },
  no_code: { status: 400, retry: false, message: () => 'The pairing code is missing.', hint: 'Send "pairing_code", for example {"pairing_code": "ABCD-2345"}.' },
  code_over: { status: 410, retry: false, message: () => 'This pairing code is wrong, was used already, or has expired.', hint: 'Ask for a new one: svc devices pair, or the page Devices.' },
  too_many_attempts: { status: 429, retry: true, message: () => 'Too many wrong pairing codes came from this address.', hint: 'Wait as long as Retry-After says, then ask for a new code.' },
});
