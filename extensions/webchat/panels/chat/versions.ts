/**
 * Versions of a conversation: sessions that were branched from each other. Where two of them part, one goes on with either.
 * Which entries two versions share follows from where each was branched off.
 */
import type { History } from './live-run.js';

export type Version = NonNullable<History['versions']>[number];

/** Where versions part: behind `through`, with how each of them is gone on with. */
export interface Parting {
  /** The last entry that all of them share. */
  readonly through: number;
  /** A session of each, in the order of their beginnings. */
  readonly sessions: readonly string[];
  /** Which of them is open. */
  readonly at: number;
}

/** A session with those that it was branched from, each with how many entries they share. */
const lineOf = (versions: ReadonlyMap<string, Version>, id: string): Map<string, number> => {
  const line = new Map<string, number>();
  let shared = Number.MAX_SAFE_INTEGER;
  for (let at = versions.get(id); at && !line.has(at.session_id); at = at.branched_from === null ? undefined : versions.get(at.branched_from)) {
    line.set(at.session_id, shared);
    shared = Math.min(shared, at.through_seq);
  }
  return line;
};

/** The sessions that this one has copied entries of. */
export const linesBefore = (versions: readonly Version[] | undefined, id: string): readonly string[] =>
  versions ? [...lineOf(new Map(versions.map((version) => [version.session_id, version])), id).keys()].slice(1) : [];

const newestOf = (group: readonly Version[]): string => group.reduce((newest, one) => (one.is_chosen || (!newest.is_chosen && one.created_at > newest.created_at) ? one : newest)).session_id;

const firstOf = (group: readonly Version[]): string => group.map(({ created_at, session_id }) => `${created_at} ${session_id}`).sort()[0] ?? '';

export const partingsOf = (versions: readonly Version[] | undefined, id: string): readonly Parting[] => {
  const byId = new Map((versions ?? []).map((version) => [version.session_id, version]));
  const own = byId.get(id);
  if (!versions || !own) return [];
  const lines = new Map(versions.map((version) => [version.session_id, lineOf(byId, version.session_id)]));
  const shared = (one: Version, other: Version): number => {
    const line = lines.get(other.session_id);
    // The nearest session of both lines.
    for (const [ancestor, count] of lines.get(one.session_id) ?? []) {
      const theirs = line?.get(ancestor);
      if (theirs !== undefined) return Math.min(count, theirs);
    }
    return 0;
  };
  const places = new Map<number, Version[][]>();
  for (const other of versions) {
    if (other === own) continue;
    const through = shared(own, other);
    // What ends where they part says nothing that this one does not say.
    if (other.last_seq <= through) continue;
    const groups = places.get(through) ?? [];
    const group = groups.find(([first]) => first && shared(first, other) > through);
    if (group) group.push(other);
    else groups.push([other]);
    places.set(through, groups);
  }
  return [...places]
    .map(([through, groups]) => {
      const ownGroup = [own, ...versions.filter((other) => other !== own && shared(own, other) > through)];
      const inOrder = [...groups, ownGroup].sort((one, other) => (firstOf(one) < firstOf(other) ? -1 : 1));
      return { through, sessions: inOrder.map((group) => (group === ownGroup ? id : newestOf(group))), at: inOrder.indexOf(ownGroup) };
    })
    .sort((one, other) => one.through - other.through);
};
