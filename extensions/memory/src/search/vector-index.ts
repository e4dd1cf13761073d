/**
 * Vectors of one owner, scanned exactly.
 *
 * V1  Only vectors of one model are compared: its identity is part of every read.
 * V2  What a scan finds is a place. Whoever asks reads the row with the owner's condition, so an erased entry is never shown.
 * V3  What is held in memory is bounded: owners that searched longest ago are dropped first.
 */
import type { Reader } from '@svc/api';
import type { MemoryChange } from '../contract.js';
import type { Placed } from './word-search.js';
import { createScanner, type Scanner } from './scanner.js';
import { unpackVector } from './vector-text.js';

interface Shelf {
  readonly model: string;
  readonly scanner: Scanner;
  /** Places that changed since they were read. */
  readonly stale: Set<number>;
}

export interface VectorIndex {
  /** `agents`: only vectors of entries of these, an empty text for entries of all agents. */
  nearest(ownerId: string, reader: Reader, model: string, query: readonly number[], limit: number, agents: readonly string[] | undefined): Promise<Placed[]>;
  changed(change: Pick<MemoryChange, 'ownerId' | 'places'>): void;
  forget(ownerId?: string): void;
}

const MAX_VECTORS = 250_000;
const PAGE = 5_000;
const MAX_STALE = 2_000;

interface VectorRead {
  readonly place: number;
  readonly vector: string;
  readonly agent_id: string;
}

export const createVectorIndex = (tables: { readonly vectors: string; readonly entries: string }, breath: () => Promise<void>): VectorIndex => {
  const shelves = new Map<string, Shelf>();
  const loading = new Map<string, Promise<Shelf>>();
  const read = (reader: Reader, model: string, after: number): Promise<VectorRead[]> =>
    reader.read<VectorRead>(
      `SELECT v.place AS place, v.vector AS vector, e.agent_id AS agent_id FROM ${tables.vectors} v JOIN ${tables.entries} e ON e.place = v.place WHERE v.model = ? AND v.place > CAST(? AS BIGINT) AND e.archived = 0 ORDER BY v.place LIMIT ?`,
      [model, after, PAGE],
    );
  const load = async (ownerId: string, reader: Reader, model: string): Promise<Shelf> => {
    const shelf: Shelf = { model, scanner: createScanner(), stale: new Set() };
    shelves.set(ownerId, shelf);
    for (let after = -1; ; ) {
      const rows = await read(reader, model, after);
      for (const row of rows) shelf.scanner.set(Number(row.place), unpackVector(row.vector), row.agent_id);
      const last = rows.at(-1);
      if (!last || rows.length < PAGE) break;
      after = Number(last.place);
    }
    makeRoom(shelves, ownerId);
    return shelf;
  };
  const refresh = async (shelf: Shelf, reader: Reader): Promise<void> => {
    const places = [...shelf.stale];
    shelf.stale.clear();
    for (let at = 0; at < places.length; at += 200) {
      const some = places.slice(at, at + 200);
      const rows = await reader.select<{ place: number; vector: string }>({ from: 'vectors', columns: ['place', 'vector'], where: { place: some, model: shelf.model } });
      const entries = await reader.select<{ place: number; agent_id: string }>({ from: 'entries', columns: ['place', 'agent_id'], where: { place: some, archived: 0 } });
      const agents = new Map(entries.map((row) => [Number(row.place), row.agent_id]));
      const vectors = new Map(rows.map((row) => [Number(row.place), row.vector]));
      for (const place of some) {
        const [vector, agent] = [vectors.get(place), agents.get(place)];
        if (vector === undefined || agent === undefined) shelf.scanner.remove(place);
        else shelf.scanner.set(place, unpackVector(vector), agent);
      }
    }
  };
  return {
    nearest: async (ownerId, reader, model, query, limit, agents) => {
      let shelf = shelves.get(ownerId);
      if (shelf?.model !== model || loading.has(ownerId)) {
        const work = loading.get(ownerId) ?? load(ownerId, reader, model).finally(() => loading.delete(ownerId));
        loading.set(ownerId, work);
        shelf = await work;
      }
      // The newest use stands last.
      shelves.delete(ownerId);
      shelves.set(ownerId, shelf);
      if (shelf.stale.size > 0) await refresh(shelf, reader);
      return shelf.scanner.nearest(query, limit, agents, breath);
    },
    changed: ({ ownerId, places }) => {
      const shelf = shelves.get(ownerId);
      if (!shelf) return;
      if (!places || shelf.stale.size + places.length > MAX_STALE) shelves.delete(ownerId);
      else for (const place of places) shelf.stale.add(place);
    },
    forget: (ownerId) => {
      if (ownerId === undefined) shelves.clear();
      else shelves.delete(ownerId);
    },
  };
};

const makeRoom = (shelves: Map<string, Shelf>, newest: string): void => {
  let held = [...shelves.values()].reduce((sum, { scanner }) => sum + scanner.size, 0);
  for (const [ownerId, { scanner }] of shelves) {
    if (held <= MAX_VECTORS) return;
    if (ownerId === newest) continue;
    held -= scanner.size;
    shelves.delete(ownerId);
  }
};
