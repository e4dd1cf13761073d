import { defineErrors } from '@svc/api';

export const migrateErrors = defineErrors('migrate', {
  unknown_source: {
    status: 400,
    retry: false,
    message: (source: string) => `There is no importer for "${source.slice(0, 80)}".`,
    hint: 'Sources are openclaw, librefang (openfang and opensvc mean the same), letta and hermes, or the path of their folder.',
  },
  nothing_there: {
    status: 400,
    retry: false,
    message: (path: string) => `${path.slice(0, 200)} is no home of OpenClaw, LibreFang, OpenFang, Letta or Hermes.`,
    hint: 'GET /api/migrate/detect lists the homes that were found. Name the folder with their settings.',
  },
  no_home: {
    status: 400,
    retry: false,
    message: (source: string) => `No home of ${source} was found.`,
    hint: 'Send its path, and allow the folder under [migrate] roots in config.toml.',
  },
  outside_roots: {
    status: 400,
    retry: false,
    message: (path: string) => `${path.slice(0, 200)} is in none of the folders that imports may read.`,
    hint: 'These are the usual homes of the user that runs the daemon, and the folders under [migrate] roots in config.toml.',
  },
  unknown_version: {
    status: 400,
    retry: false,
    message: (program: string, file: string, why: string) => `${file} is of a version of ${program} that this svc cannot read: ${why}.`,
    hint: 'Update svc. Nothing was imported.',
  },
  unreadable: {
    status: 400,
    retry: false,
    message: (why: string) => `The source cannot be read: ${why}.`,
    hint: 'Nothing was imported. Repair the file, or leave it out by moving it elsewhere.',
  },
  target_dir: {
    status: 400,
    retry: false,
    message: () => 'An import goes into this daemon; it has no other target folder.',
    hint: 'Leave out `target_dir`, or start a daemon with that home.',
  },
  secrets_denied: { status: 403, retry: false, message: () => 'Only an owner can import secrets.', hint: 'Leave out `import_secrets`, or ask an owner.' },
  failed: {
    status: 400,
    retry: false,
    message: (why: string) => (why === '' ? 'The import failed.' : why),
    hint: 'What was imported until then is here; an import of the same home brings the rest.',
  },
  busy: { status: 409, retry: true, message: () => 'An import of this home is under way.', hint: 'GET /api/migrate/{id} shows how far it is.' },
  not_found: { status: 404, retry: false, message: (id: string) => `There is no import ${id.slice(0, 80)}.`, hint: 'POST /api/migrate answers the id.' },
});
