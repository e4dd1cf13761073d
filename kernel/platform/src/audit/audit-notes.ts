/** What the kernel tells the audit trail: requests, refusals and settings. It counts what could not be entered. */
import { auditFact, type AuditCategory, type AuditFact, AuditRecorded, type Clock, type Ids, type Logger, type AuditNote } from '@svc/api';
import { systemActor } from '@svc/api/internal';
import type { HttpAudit } from '../http/audited.js';
import type { FactCount } from './stored-facts.js';

export interface AuditDeps {
  isStored(event: string): boolean;
  commit(fact: AuditFact): Promise<void>;
  count(): Promise<FactCount>;
  readonly config: { get(section: string): unknown };
  /** The sections that installed extensions claim. */
  readonly claims: () => Readonly<Record<string, unknown>>;
  readonly clock: Pick<Clock, 'iso' | 'mono'>;
  readonly ids: Pick<Ids, 'uuid'>;
  readonly log: Logger;
}

export interface KernelAudit extends HttpAudit {
  /** Settings that are others now, and how that came. */
  settingsChanged(settings: readonly string[], why: string): void;
  /** Entries that could not be stored since the start. */
  failures(): number;
  /** What waits for the audit area. */
  stored(): Promise<FactCount>;
}

const WINDOW_MS = 60_000;
/** Different refusals that are told apart in a minute; more are counted as one. */
const MAX_KEYS = 1_000;
const OTHERS = 'others';
const SECTION = 'audit';

interface Row {
  readonly since: number;
  readonly note: AuditNote;
  /** After the first, which is entered at once. */
  more: number;
}

export const createAudit = (deps: AuditDeps): KernelAudit => {
  const { clock, log } = deps;
  const refusals = new Map<string, Row>();
  let failures = 0;
  const commit = (note: AuditNote): Promise<void> => deps.commit(auditFact(deps, note));
  const note = (one: AuditNote): Promise<void> =>
    commit(one).catch((cause: unknown) => {
      failures += 1;
      log.error('an audit entry could not be stored', { type: one.type, outcome: one.outcome, cause });
    });
  /** What was counted for a minute is entered with its number. */
  const settle = (): void => {
    for (const [key, { since, note: first, more }] of refusals) {
      if (clock.mono() - since < WINDOW_MS) continue;
      refusals.delete(key);
      if (more > 0) void note({ ...first, details: { ...first.details, times: more } });
    }
  };
  return {
    isOn: () => deps.isStored(AuditRecorded.name),
    isRequired: (category) => category !== undefined && requiredOf(deps).includes(category),
    commit,
    note,
    refusal: (key, one) => {
      settle();
      const known = refusals.get(key) ?? (refusals.size >= MAX_KEYS ? refusals.get(OTHERS) : undefined);
      if (known) known.more += 1;
      else {
        refusals.set(refusals.size >= MAX_KEYS ? OTHERS : key, { since: clock.mono(), note: one, more: 0 });
        void note(one);
      }
    },
    settingsChanged: (settings, why) => {
      if (settings.length > 0 && deps.isStored(AuditRecorded.name))
        void note({ type: 'settings_changed', actor: systemActor('kernel'), details: { count: settings.length, settings: settings.join(' ').slice(0, 1_000), why } });
    },
    failures: () => failures,
    stored: deps.count,
  };
};

const requiredOf = ({ config, claims }: AuditDeps): readonly AuditCategory[] => {
  if (!(SECTION in claims())) return [];
  // Validated by the schema that the audit area claims the section with.
  return (config.get(SECTION) as { readonly required: readonly AuditCategory[] } | undefined)?.required ?? [];
};

/** Values of secrets, wherever they stand. An area that notes a fact is believed about its form: it came with the daemon. */
export const withoutSecrets = (fact: AuditFact, scrub: (text: string) => string): AuditFact => ({ ...fact, details: scrubbed(fact.details, scrub), personal: scrubbed(fact.personal, scrub) });

const scrubbed = (facts: AuditFact['details'], scrub: (text: string) => string): AuditFact['details'] =>
  Object.fromEntries(Object.entries(facts).map(([name, value]) => [name, typeof value === 'string' ? scrub(value) : value]));
