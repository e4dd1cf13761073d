import { defineErrors } from '@svc/api';

export const extensionErrors = defineErrors('extension', {
  not_found: {
    status: 404,
    retry: false,
    message: (name: string, near: string | undefined) => `There is no extension "${name}".${near ? ` Did you mean ${near}?` : ''}`,
    hint: 'svc ext list names all.',
  },
  change_failed: {
    status: 409,
    retry: true,
    message: (name: string, action: string, reason: string) => `${name} could not be ${action}: ${reason}`,
    hint: 'svc ext why explains the state; svc logs has the cause.',
  },
  needs_confirmation: {
    status: 409,
    retry: false,
    message: (warning: string, back: string) => `${warning} Way back: ${back}${back.endsWith('.') ? '' : '.'} Confirm to go on.`,
    hint: 'Repeat with ?confirm=true (or ?force=true, which does not wait for what it is doing), or answer yes in svc ext.',
  },
  bundled: {
    status: 409,
    retry: false,
    message: (name: string) => `${name} comes with svc, and goes and changes with it.`,
    hint: 'svc ext disable switches it off.',
  },
  one_source: {
    status: 400,
    retry: false,
    message: () => 'Name one thing to install: `name` with a source, or `path` with an absolute path.',
    hint: 'Sources are npm:name@range, https://…tgz#sha256=…, git+https://…#ref, a path, or an id of the configured index.',
  },
});
