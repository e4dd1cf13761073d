/**
 * The security report.
 *
 * R1  A state is what a probe saw within the last minute. Callers of that minute share one look, those that come during it too.
 * R2  A system that nobody reports is `inactive`, with the reason. It is never assumed to work.
 * R3  Where a probe throws, is late, or is said twice, the worst of it counts. Reading the report never fails for it.
 * R4  What switches a system on or off ends the minute: a report is never older than the last change of an extension or setting.
 */
import type { Clock, ExtensionStatus, Gathered, SecurityFinding, SecurityState } from '@svc/api';
import { SYSTEMS, type System } from './systems.js';

const FRESH_MS = 60_000;

export interface Evidence {
  readonly state: SecurityState;
  readonly detail: string;
  readonly checked_at: string;
  /** Null where this version has nobody for it. */
  readonly owner: string | null;
}

export interface Report {
  readonly evidence: ReadonlyMap<string, Evidence>;
  readonly checkedAt: string;
  readonly tookMs: number;
}

export interface ReportDeps {
  readonly ask: () => Promise<ReadonlyArray<Gathered<SecurityFinding>>>;
  readonly extensions: () => ReadonlyArray<Pick<ExtensionStatus, 'id' | 'state' | 'reason'>>;
  readonly clock: Pick<Clock, 'mono' | 'iso'>;
}

export interface Reports {
  newest(): Promise<Report>;
  /** R4. */
  forget(): void;
}

export const createReports = (deps: ReportDeps): Reports => {
  let known: { readonly atMs: number; readonly report: Promise<Report> } | undefined;
  return {
    newest: () => {
      const nowMs = deps.clock.mono();
      if (known === undefined || nowMs - known.atMs >= FRESH_MS) {
        const report = look(deps);
        known = { atMs: nowMs, report };
        // Nobody is told of a failure of a minute ago.
        report.catch(() => {
          if (known?.report === report) known = undefined;
        });
      }
      return known.report;
    },
    forget: () => {
      known = undefined;
    },
  };
};

const look = async ({ ask, extensions, clock }: ReportDeps): Promise<Report> => {
  const sinceMs = clock.mono();
  const rows = await ask();
  const [checkedAt, states] = [clock.iso(), extensions()];
  const evidence = SYSTEMS.map((system) => [system.name, { ...(reported(system, rows) ?? unreported(system, rows, states)), checked_at: checkedAt }] as const);
  return { evidence: new Map(evidence), checkedAt, tookMs: Math.round(clock.mono() - sinceMs) };
};

type Found = Omit<Evidence, 'checked_at'>;

const WORST_FIRST: readonly SecurityState[] = ['failed', 'inactive', 'degraded', 'active'];

/** R3. */
const reported = ({ name }: System, rows: ReadonlyArray<Gathered<SecurityFinding>>): Found | undefined => {
  const found = rows.flatMap(({ owner, value }) => (value?.name === name ? [{ owner, state: value.state, detail: value.detail ?? `The extension ${owner} gave no details.` }] : []));
  const state = WORST_FIRST.find((one) => found.some((row) => row.state === one));
  const worst = found.filter((row) => row.state === state);
  const [first] = worst;
  return first && { state: first.state, detail: worst.map(({ detail }) => detail).join(' '), owner: first.owner };
};

/** R2. */
const unreported = ({ owner }: System, rows: ReadonlyArray<Gathered<SecurityFinding>>, extensions: ReturnType<ReportDeps['extensions']>): Found => {
  const failure = rows.find((row) => row.owner === owner && row.error !== undefined);
  if (failure) return { owner, state: 'failed', detail: `The check did not answer: ${failure.error}` };
  const extension = extensions.find(({ id }) => id === owner);
  if (!extension) return { owner: null, state: 'inactive', detail: 'Not part of this version.' };
  if (extension.state === 'active') return { owner, state: 'inactive', detail: `The extension ${owner} does not report it.` };
  const why = extension.reason === null ? '' : `: ${extension.reason}`;
  if (extension.state === 'inactive') return { owner, state: 'inactive', detail: `The extension ${owner} is switched off. svc ext enable ${owner} switches it on.` };
  // It waits for another one, which is off.
  if (extension.state === 'pending') return { owner, state: 'inactive', detail: `The extension ${owner} waits${why}. svc ext why ${owner} explains it.` };
  return { owner, state: 'failed', detail: `The extension ${owner} is ${extension.state}${why}. svc ext why ${owner} explains it.` };
};
