/** Who and what an agent knows of: as a picture, and the same as a table. */
import { addressOf, type Column, daemon, Empty, type OutputOf, PanelBody, PanelHead, Shown, Table, useFresh, useLoaded, useMemo } from '@svc/kit';
import { layoutOf } from './graph-layout.js';
import { t } from './words.js';

type Match = OutputOf<'queryMemoryRelations'>['matches'][number];

const WIDTH = 800;
const HEIGHT = 480;
const MAX_LABELS = 60;

export const GraphView = ({ agentId }: { agentId: string }) => {
  const graph = useLoaded(`memory graph ${agentId}`, (signal) => daemon.call('queryMemoryRelations', { id: agentId, limit: 100 }, { signal }));
  useFresh(() => graph.reload(), ['memory']);
  return (
    <>
      <PanelHead title={t('graph')} note={t('graph_note')} back={{ href: addressOf('memory', []), label: t('title') }} />
      <PanelBody>
        <Shown of={graph} lines={8}>
          {({ matches }) =>
            matches.length === 0 ? (
              <Empty icon="brain" title={t('no_graph')}>
                <p>{t('no_graph_text')}</p>
              </Empty>
            ) : (
              <div class="stack">
                <Picture matches={matches} />
                <Table label={t('relations')} rows={matches} keyOf={({ source, relation, target }) => `${source.id} ${relation.type} ${target.id}`} columns={COLUMNS()} />
              </div>
            )
          }
        </Shown>
      </PanelBody>
    </>
  );
};

const Picture = ({ matches }: { matches: readonly Match[] }) => {
  const { nodes, edges } = useMemo(() => layoutOf(matches, WIDTH, HEIGHT), [matches]);
  return (
    <svg class="memory-graph" viewBox={`0 0 ${WIDTH} ${HEIGHT}`} role="img" aria-label={t('picture', { nodes: nodes.length, edges: edges.length })}>
      {edges.map(({ from, to, key, label }) => (
        <line key={key} x1={from.x} y1={from.y} x2={to.x} y2={to.y}>
          <title>{label}</title>
        </line>
      ))}
      {nodes.map(({ id, name, x, y }) => (
        <g key={id}>
          <circle cx={x} cy={y} r={6}>
            <title>{name}</title>
          </circle>
          {nodes.length <= MAX_LABELS && (
            <text x={x + 9} y={y + 4}>
              {name.length > 24 ? `${name.slice(0, 24)}…` : name}
            </text>
          )}
        </g>
      ))}
    </svg>
  );
};

const COLUMNS = (): ReadonlyArray<Column<Match>> => [
  { id: 'source', title: t('from'), cell: ({ source }) => <bdi>{source.name}</bdi> },
  { id: 'relation', title: t('relation'), cell: ({ relation }) => <bdi>{relation.type}</bdi> },
  { id: 'target', title: t('to'), cell: ({ target }) => <bdi>{target.name}</bdi> },
];
