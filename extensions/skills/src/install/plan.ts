/** What an install would do, and what a person reads before they agree. */
import type { ExtensionContext } from '@svc/api';
import type { SkillPlan } from '../contract.js';
import { diffOf } from '../evolve/changes.js';
import type { Skill } from '../format/skill.js';
import { digestOf, hashesOf, type PackFile } from './pack.js';
import { type Finding, worstOf } from './scan.js';
import type { FetchedSkill } from './sources.js';

const HOST = /\bhttps?:\/\/([a-z0-9.-]+\.[a-z]{2,})(?=[/:\s"'`)\]>]|$)/gi;
const MAX_HOSTS = 50;
const MAX_HOST_BYTES = 200_000;
const LOOK_MS = 5_000;

/** The installed version. */
export interface Known {
  readonly version: string;
  readonly hashes: Readonly<Record<string, string>>;
  readonly edited: readonly string[];
  readonly files: readonly PackFile[];
  readonly findings: readonly Finding[];
  /** Not of one that cannot be loaded. */
  readonly skill: Skill | undefined;
}

export const planOf = async (exec: ExtensionContext['exec'], fetched: FetchedSkill, skill: Skill, findings: readonly Finding[], known: Known | undefined): Promise<SkillPlan> => {
  const hashes = hashesOf(fetched.files);
  return {
    name: skill.name,
    version: skill.version,
    description: skill.description,
    runtime: skill.runtime,
    digest: digestOf(hashes),
    download_sha256: fetched.downloadSha256 ?? null,
    installed_version: known?.version ?? null,
    files: fetched.files.map(({ path, bytes }) => ({ path, bytes: bytes.length, change: known?.hashes[path] === undefined ? 'added' : known.hashes[path] === hashes[path] ? 'same' : 'changed' })),
    removed_files: known ? Object.keys(known.hashes).filter((path) => hashes[path] === undefined) : [],
    edited_files: [...(known?.edited ?? [])],
    tools: (skill.program?.tools ?? []).map(({ name, description }) => ({ name, description })),
    ...(known ? { diff: diffOf(known.files, fetched.files), adds: addedBy({ skill, files: fetched.files, findings }, known) } : { diff: '', adds: [] }),
    programs: await programsOf(exec, skill),
    variables: [...skill.requires.env],
    installs: [...skill.requires.installs],
    hosts: hostsIn(fetched.files),
    findings: [...findings],
    risk: worstOf(findings),
    warnings: skill.warnings.map(({ line, message }) => `${skill.file}, line ${line}: ${message}.`),
  };
};

interface Asking {
  readonly skill: Skill | undefined;
  readonly files: readonly PackFile[];
  readonly findings: readonly Finding[];
}

/** What a skill may do or asks for, each as a person reads it. */
const asksOf = ({ skill, files, findings }: Asking): string[] => [
  ...(skill?.program?.tools ?? []).map(({ name }) => `the tool ${name}`),
  ...(skill ? programNames(skill).map((name) => `the program ${name}`) : []),
  ...(skill?.requires.env ?? []).map((name) => `the variable ${name}`),
  ...hostsIn(files).map((host) => `the host ${host}`),
  ...findings.filter(({ severity }) => severity !== 'info').map(({ rule, severity, file }) => `${severity}: ${rule} in ${file}`),
];

const addedBy = (next: Asking, before: Asking): string[] => {
  const had = new Set(asksOf(before));
  return [...new Set(asksOf(next))].filter((one) => !had.has(one));
};

const INTERPRETERS: Readonly<Partial<Record<Skill['runtime'], string>>> = { Python: 'python3', Node: 'node', Shell: 'bash' };

/** Those that it asks for, and the one that runs its own. */
export const programNames = ({ requires, runtime }: Pick<Skill, 'requires' | 'runtime'>): string[] => {
  const own = INTERPRETERS[runtime];
  return [...new Set([...requires.bins, ...requires.anyBins, ...(own === undefined ? [] : [own])])].filter((name) => /^[A-Za-z0-9._+-]{1,100}$/.test(name));
};

export const programsOf = (exec: ExtensionContext['exec'], skill: Pick<Skill, 'requires' | 'runtime'>): Promise<Array<{ name: string; found: boolean }>> =>
  Promise.all(
    programNames(skill).map(async (name) => {
      const { exitCode } = await exec('sh', ['-c', 'command -v -- "$1" >/dev/null', 'sh', name], { cwd: '/', timeoutMs: LOOK_MS });
      return { name, found: exitCode === 0 };
    }),
  );

const hostsIn = (files: readonly PackFile[]): string[] => {
  const hosts = new Set<string>();
  for (const { bytes } of files) {
    if (bytes.subarray(0, 8_192).includes(0)) continue;
    for (const [, host = ''] of Buffer.from(bytes.subarray(0, MAX_HOST_BYTES)).toString('utf8').matchAll(HOST)) if (hosts.size < MAX_HOSTS) hosts.add(host.toLowerCase());
  }
  return [...hosts].sort();
};
