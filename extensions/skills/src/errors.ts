import { defineErrors } from '@svc/api';

const FROM_ELSEWHERE = 'Get the skill from somewhere else, or ask its author.';

export const skillErrors = defineErrors('skills', {
  not_found: { status: 404, retry: false, message: (name: string, near = '') => `There is no skill "${name}".${near}`, hint: 'GET /api/skills lists them.' },
  not_in_registry: {
    status: 404,
    retry: false,
    message: (name: string) => `The local registry has no skill "${name}".`,
    hint: 'GET /api/skills/registry lists them. They are in registry/skills of the home folder.',
  },
  file_not_found: { status: 404, retry: false, message: (name: string, path: string) => `The skill "${name}" has no file "${path}".`, hint: 'GET /api/skills/{name} lists its files.' },
  bad_path: {
    status: 400,
    retry: false,
    message: (path: string, why: string) => `The path "${path}" cannot be shown: it ${why}.`,
    hint: 'Name a file below references/, templates/, scripts/ or assets/.',
  },
  bad_source: {
    status: 400,
    retry: false,
    message: (source: string, why: string) => `No skill can be installed from "${source}": ${why}.`,
    hint: 'Send an absolute folder or file, an https address of a SKILL.md, .zip or .tar.gz, an address of a git repository, or the name of a skill in the local registry.',
  },
  no_skill: { status: 400, retry: false, message: (source: string) => `${source} has no SKILL.md and no skill.toml.`, hint: 'A skill is a folder with one of these files in it.' },
  which: {
    status: 400,
    retry: false,
    message: (source: string, paths: string) => `${source} has several skills: ${paths}.`,
    hint: 'Send the one you want as `path`.',
  },
  bad_skill: { status: 400, retry: false, message: (file: string, line: number, why: string) => `${file}, line ${line}: ${why}.`, hint: 'Correct the file, and install it again.' },
  exists: { status: 409, retry: false, message: (name: string) => `The skill "${name}" is installed already.`, hint: 'Send `replace: true` to update it.' },
  edited: {
    status: 409,
    retry: false,
    message: (name: string, files: string) => `Files of the skill "${name}" were changed by hand, and an update would discard that: ${files}.`,
    hint: 'Send `discard_edits: true` as well, or keep a copy first.',
  },
  bundled: {
    status: 400,
    retry: false,
    message: (name: string) => `The skill "${name}" comes with svc and cannot be replaced or uninstalled.`,
    hint: 'List it under [skills] disabled in config.toml to switch it off.',
  },
  wrong_hash: {
    status: 400,
    retry: false,
    message: (expected: string, found: string) => `The SHA-256 should be ${expected}, but it is ${found}.`,
    hint: 'What is there now is not what you read or what its author published. Read it again before you install it.',
  },
  refused: {
    status: 400,
    retry: false,
    message: (name: string, findings: string) => `The skill "${name}" was not installed, because of what was found in it: ${findings}.`,
    hint: 'Read these lines. An owner can send `accept_findings: true`; the audit log records it.',
  },
  owners_only: { status: 403, retry: false, message: () => 'Only owners may accept critical findings.', hint: 'Ask an owner of this daemon.' },
  unreachable: { status: 502, retry: true, message: (source: string, why: string) => `${source} could not be fetched: ${why}.`, hint: 'Check the address, and whether this machine reaches it.' },
  unknown_skills: { status: 400, retry: false, message: (names: string) => `There is no skill ${names}.`, hint: 'GET /api/skills lists them.' },
  too_many: { status: 409, retry: false, message: (limit: number) => `There are ${limit} skills already, which is the limit.`, hint: 'Uninstall those that are no longer used.' },
  archive_link: { status: 400, retry: false, message: (path: string) => `The archive has a link, ${path}. Links are refused because they can lead out of the folder.`, hint: FROM_ELSEWHERE },
  archive_path: { status: 400, retry: false, message: (path: string, why: string) => `The archive names ${JSON.stringify(path)}, which ${why}.`, hint: FROM_ELSEWHERE },
  archive_case: { status: 400, retry: false, message: (one: string, other: string) => `The archive has ${one} and ${other}, which are one file on some systems.`, hint: FROM_ELSEWHERE },
  archive_size: { status: 413, retry: false, message: (what: string, limit: string) => `${what} is larger than ${limit}.`, hint: FROM_ELSEWHERE },
  archive_count: { status: 413, retry: false, message: (limit: number) => `The archive has more than ${limit} files and folders.`, hint: FROM_ELSEWHERE },
  archive_broken: { status: 400, retry: false, message: (why: string) => `The archive cannot be unpacked: ${why}.`, hint: 'Download it again. An archive is a .zip, a .tar or a .tar.gz.' },
});
