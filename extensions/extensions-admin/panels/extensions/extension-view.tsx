/** One extension: why it is in its state, whom it needs, what it may do and what it brings. */
import { addressOf, Badge, bytes, type ComponentChildren, count, dateTime, duration, Facts, Fold, LinkButton, Section } from '@svc/kit';
import { Badges, decidedBy, type Extension, type Node, whyOf } from './state.js';
import { t } from './words.js';

const Links = ({ names, none }: { names: readonly string[]; none: string }) =>
  names.length === 0 ? (
    <span class="muted">{none}</span>
  ) : (
    <span class="row wrap">
      {names.map((name) => (
        <a key={name} href={addressOf('extensions', [name])}>
          <bdi>{name}</bdi>
        </a>
      ))}
    </span>
  );

const list = (lines: readonly string[]): ComponentChildren => (
  <ul class="plain-list">
    {lines.map((line) => (
      <li key={line}>{line}</li>
    ))}
  </ul>
);

/** Rows of what there is to say; nothing is said of what there is none of. */
const rowsOf = (extension: Extension, waitsFor: readonly string[]): Array<readonly [string, ComponentChildren]> => [
  [t('state'), <Badges key="state" extension={extension} />],
  [t('reason'), whyOf(extension)],
  [t('decided'), decidedBy(extension)],
  ...(extension.phase === null ? [] : [[t('phase'), extension.phase] as const]),
  ...(waitsFor.length === 0 ? [] : [[t('waits_for'), <Links key="waits" names={waitsFor} none="" />] as const]),
  ...(extension.startedAt === null ? [] : [[t('started'), dateTime(extension.startedAt)] as const]),
  ...(extension.startMs === null ? [] : [[t('start_ms'), duration(extension.startMs)] as const]),
  ...(extension.generation === 0 ? [] : [[t('loaded'), t('times', { count: extension.generation })] as const]),
  ...(extension.strikes === 0 ? [] : [[t('strikes'), t('strikes_value', { count: count(extension.strikes) })] as const]),
  ...(extension.holds.length === 0 ? [] : [[t('busy'), list(extension.holds)] as const]),
  ...(extension.leaks.length === 0 ? [] : [[t('leaks'), list(extension.leaks)] as const]),
  [t('version'), extension.version],
];

const storedText = (used: number | null, limit: number): string => (used === null ? t('stored_unknown', { limit: bytes(limit) }) : t('stored_value', { used: bytes(used), limit: bytes(limit) }));

/** Of what somebody installed: where it is from, and how far it is trusted. */
const originRows = ({ origin, process, stored }: Extension): Array<readonly [string, ComponentChildren]> =>
  origin === null
    ? []
    : [
        [t('source'), <bdi key="source">{origin.source}</bdi>],
        [
          t('publisher'),
          origin.publisher === null ? (
            <Badge key="publisher" tone="warn" icon="triangle-alert">
              {t(`trust_${origin.trust}`)}
            </Badge>
          ) : (
            <span key="publisher">
              {origin.publisher.name !== null && <bdi>{origin.publisher.name} </bdi>}
              <code class="muted">{origin.publisher.keyId}</code>
            </span>
          ),
        ],
        [t('isolation'), t(`isolation_${origin.isolation}`)],
        [t('installed'), dateTime(origin.installedAt)],
        ...(process === null ? [] : [[t('process'), process.memoryBytes === null ? t('process_none') : t('process_memory', { memory: bytes(process.memoryBytes) })] as const]),
        ...(stored === null ? [] : [[t('stored_files'), storedText(stored.filesBytes, stored.filesLimit)] as const, [t('stored_rows'), storedText(stored.rowsBytes, stored.rowsLimit)] as const]),
        ...(process === null || process.crashes === 0 ? [] : [[t('crashes'), t('crashes_value', { count: process.crashes })] as const]),
      ];

const KINDS = ['route', 'socket', 'tool', 'capability', 'service', 'table', 'timer', 'listener', 'hook', 'tap'] as const;
const isKind = (kind: string): kind is (typeof KINDS)[number] => KINDS.some((one) => one === kind);
const rank = (kind: string): number => (isKind(kind) ? KINDS.indexOf(kind) : KINDS.length);

const Contributions = ({ extension: { contributes, state } }: { extension: Extension }) => {
  const kinds = Object.entries(contributes)
    .filter(([, names]) => names.length > 0)
    .sort(([one], [other]) => rank(one) - rank(other));
  if (kinds.length === 0) return <p class="muted">{state === 'active' ? t('brings_nothing') : t('brings_off')}</p>;
  return (
    <div class="card">
      {kinds.map(([kind, names]) => (
        <Fold
          key={kind}
          open={kind === 'route' || kind === 'tool'}
          summary={
            <>
              {isKind(kind) ? t(`kind_${kind}`) : kind} <span class="muted">{names.length}</span>
            </>
          }
        >
          <ul class="plain-list">
            {[...new Set(names)].map((name) => (
              <li key={name}>
                <code>{name}</code>
              </li>
            ))}
          </ul>
        </Fold>
      ))}
    </div>
  );
};

export const ExtensionView = ({ extension, nodes, hasLog }: { extension: Extension; nodes: readonly Node[]; hasLog: boolean }) => {
  const node = nodes.find(({ id }) => id === extension.id);
  const who = (pick: (node: Node) => readonly string[]): string[] => nodes.filter((one) => pick(one).includes(extension.id)).map(({ id }) => id);
  return (
    <>
      <Section
        title={t('why')}
        actions={
          hasLog && (
            <LinkButton small icon="scroll-text" href={addressOf('logs', [], { area: extension.id })}>
              {t('see_log')}
            </LinkButton>
          )
        }
      >
        <div class="card">
          <Facts rows={rowsOf(extension, node?.waitsFor ?? [])} />
        </div>
      </Section>
      {extension.origin !== null && (
        <Section title={t('origin')} note={t('origin_note')}>
          <div class="card">
            <Facts rows={originRows(extension)} />
          </div>
        </Section>
      )}
      <Section
        title={t('relations')}
        actions={
          <LinkButton small icon="git-branch" href={addressOf('extensions', [], { view: 'graph', focus: extension.id })}>
            {t('in_graph')}
          </LinkButton>
        }
      >
        <div class="card">
          <Facts
            rows={[
              [t('needs'), <Links key="needs" names={[...new Set(node?.needs)]} none={t('nothing')} />],
              [t('uses'), <Links key="uses" names={[...new Set(node?.uses)]} none={t('nothing')} />],
              [t('needed_by'), <Links key="needed" names={who(({ needs }) => needs)} none={t('nobody')} />],
              [t('used_by'), <Links key="used" names={who(({ uses }) => uses)} none={t('nobody')} />],
            ]}
          />
        </div>
      </Section>
      <Section title={t('grants')} note={t('grants_note')}>
        {extension.grants.length === 0 ? (
          <p class="muted">{t('no_grants')}</p>
        ) : (
          <div class="card">
            <ul class="grants">
              {extension.grants.map(({ grant, what, why }) => (
                <li key={grant}>
                  <p>{t('it', { what })}</p>
                  <p class="muted">{t('because', { why })}</p>
                  <code class="muted small-text">{grant}</code>
                </li>
              ))}
            </ul>
          </div>
        )}
      </Section>
      <Section title={t('contributions')}>
        <Contributions extension={extension} />
      </Section>
    </>
  );
};
