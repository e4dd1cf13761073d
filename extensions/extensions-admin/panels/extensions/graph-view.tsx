/** Who needs whom, as a drawing and in words. */
import { address, addressOf, Fold, Section, useMemo, useState } from '@svc/kit';
import { BOX, drawn, lineOf, nearestNeeds, type Place } from './graph-layout.js';
import { type Node, StateBadge } from './state.js';
import { t } from './words.js';

const MAX_LETTERS = 14;

const inWords = ({ needs, uses }: Node): string => {
  const said = [needs.length > 0 ? t('words_needs', { names: [...new Set(needs)].join(', ') }) : t('words_alone'), uses.length > 0 ? t('words_uses', { names: [...new Set(uses)].join(', ') }) : ''];
  return said.filter(Boolean).join('; ');
};

const Box = ({ place: { node, x, y }, tone, onFollow }: { place: Place; tone: string; onFollow: (id: string | undefined) => void }) => (
  <a
    href={addressOf('extensions', [node.id])}
    class={`graph-box ${node.state} ${tone}`}
    onMouseEnter={() => onFollow(node.id)}
    onMouseLeave={() => onFollow(undefined)}
    onFocus={() => onFollow(node.id)}
    onBlur={() => onFollow(undefined)}
    aria-label={`${node.id}, ${t(`state_${node.state}`)}: ${inWords(node)}`}
  >
    <title>{`${node.id}: ${inWords(node)}`}</title>
    <rect x={x} y={y} width={BOX.width} height={BOX.height} rx="8" />
    <circle cx={x + 16} cy={y + BOX.height / 2} r="4.5" />
    <text x={x + 28} y={y + BOX.height / 2 + 4.5}>
      {node.id.length > MAX_LETTERS ? `${node.id.slice(0, MAX_LETTERS - 1)}…` : node.id}
    </text>
  </a>
);

export const GraphView = ({ nodes }: { nodes: readonly Node[] }) => {
  const [pointed, setPointed] = useState<string>();
  const { places, width, height, alone } = useMemo(() => drawn(nodes), [nodes]);
  const nearest = useMemo(() => nearestNeeds(nodes), [nodes]);
  const followed = pointed ?? address.value.query.focus;
  const lines = nodes.flatMap((node) => [
    ...[...new Set(node.needs)].map((need) => ({ from: need, to: node.id, kind: 'needs' })),
    ...[...new Set(node.uses)].filter((use) => !node.needs.includes(use)).map((use) => ({ from: use, to: node.id, kind: 'uses' })),
  ]);
  const touches = ({ from, to }: { from: string; to: string }): boolean => from === followed || to === followed;
  const near = new Set(lines.filter(touches).flatMap(({ from, to }) => [from, to]));
  const isFollowing = followed !== undefined && places.has(followed);
  /** Of the one that is followed, all; else only what says something that no other line says. */
  const isDrawn = (line: { from: string; to: string; kind: string }): boolean => (isFollowing && touches(line)) || (line.kind === 'needs' && nearest.get(line.to)?.has(line.from) === true);
  const toneOf = (id: string): string => (!isFollowing ? '' : id === followed ? 'followed' : near.has(id) ? 'near' : 'far');
  return (
    <>
      <div class="stack">
        <p class="muted">{t('follow')}</p>
        <div class="graph-frame" role="region" aria-label={t('graph_label')} tabIndex={0}>
          <svg class="graph" width={width} height={height} viewBox={`0 0 ${width} ${height}`} role="group" aria-label={t('graph')}>
            {lines.map((line) => {
              const [from, to] = [places.get(line.from), places.get(line.to)];
              if (!from || !to || !isDrawn(line)) return null;
              return <path key={`${line.kind} ${line.from} ${line.to}`} class={`graph-line ${line.kind} ${isFollowing ? (touches(line) ? 'near' : 'far') : ''}`} d={lineOf(from, to)} />;
            })}
            {[...places.values()].map((place) => (
              <Box key={place.node.id} place={place} tone={toneOf(place.node.id)} onFollow={setPointed} />
            ))}
          </svg>
        </div>
        <p class="graph-legend muted small-text" aria-hidden="true">
          <span class="legend-needs" /> {t('legend_needs')} <span class="legend-uses" /> {t('legend_uses')}
        </p>
      </div>
      {alone.length > 0 && (
        <Section title={t('alone')}>
          <ul class="row wrap alone-list">
            {alone.map(({ id, state }) => (
              <li key={id} class="row">
                <a href={addressOf('extensions', [id])}>
                  <bdi>{id}</bdi>
                </a>
                {state !== 'active' && <StateBadge state={state} />}
              </li>
            ))}
          </ul>
        </Section>
      )}
      <Fold summary={t('in_words')}>
        <ul class="plain-list">
          {nodes.map((node) => (
            <li key={node.id}>
              <a href={addressOf('extensions', [node.id])}>
                <bdi>{node.id}</bdi>
              </a>{' '}
              {inWords(node)}
            </li>
          ))}
        </ul>
      </Fold>
    </>
  );
};
