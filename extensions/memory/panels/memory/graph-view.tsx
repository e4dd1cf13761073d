/** Who and what an agent knows of: as a picture that keys walk through, and the same as a table beside it. */
import { addressOf, Badge, Button, type Column, daemon, dateTime, Empty, type OutputOf, PanelBody, PanelHead, Shown, Table, useFresh, useLoaded, useMemo, useRef, useState } from '@svc/kit';
import { layoutOf, type Node, nodeAfter } from './graph-layout.js';
import { t } from './words.js';

type Match = OutputOf<'queryMemoryRelations'>['matches'][number];

const WIDTH = 800;
const HEIGHT = 560;
const MAX_LABELS = 60;
const MAX_NODES = 500;
const MAX_RELATIONS = 2_000;
const PAGE = 100;
const MAX_NAME = 24;

/** The newest relations, as long as they are of few enough things for a picture. */
const loadRelations = async (agentId: string, signal: AbortSignal): Promise<Match[]> => {
  const found: Match[] = [];
  const nodes = new Set<string>();
  for (let offset = 0; offset < MAX_RELATIONS; offset += PAGE) {
    const { matches } = await daemon.call('queryMemoryRelations', { id: agentId, limit: PAGE, offset }, { signal });
    for (const match of matches) {
      const fresh = [match.source.id, match.target.id].filter((id) => !nodes.has(id));
      if (nodes.size + new Set(fresh).size > MAX_NODES) continue;
      for (const id of fresh) nodes.add(id);
      found.push(match);
    }
    if (matches.length < PAGE) break;
  }
  return found;
};

export const GraphView = ({ agentId }: { agentId: string }) => {
  const graph = useLoaded(`memory graph ${agentId}`, (signal) => loadRelations(agentId, signal));
  useFresh(() => graph.reload(), ['memory']);
  return (
    <>
      <PanelHead title={t('graph')} note={t('graph_note')} back={{ href: addressOf('memory', []), label: t('title') }} />
      <PanelBody>
        <Shown of={graph} lines={8}>
          {(matches) =>
            matches.length === 0 ? (
              <Empty icon="brain" title={t('no_graph')}>
                <p>{t('no_graph_text')}</p>
              </Empty>
            ) : (
              <PictureAndTable matches={matches} />
            )
          }
        </Shown>
      </PanelBody>
    </>
  );
};

const PictureAndTable = ({ matches }: { matches: readonly Match[] }) => {
  const [chosen, setChosen] = useState<string>();
  const { nodes, edges } = useMemo(() => layoutOf(matches, WIDTH, HEIGHT), [matches]);
  const node = nodes.find(({ id }) => id === chosen);
  const rows = node ? matches.filter(({ source, target }) => source.id === node.id || target.id === node.id) : matches;
  return (
    <div class="memory-graph-beside">
      <div class="stack">
        <Picture nodes={nodes} edges={edges} chosen={node} onChoose={setChosen} />
        <p class="muted small-text">{t('picture_keys')}</p>
      </div>
      <div class="stack">
        <p aria-live="polite">{node ? t('relations_of', { name: node.name, count: rows.length }) : t('picture', { nodes: nodes.length, edges: edges.length })}</p>
        {node && (
          <div class="memory-actions">
            <Button onPress={() => setChosen(undefined)}>{t('all_relations')}</Button>
          </div>
        )}
        <Table label={t('relations')} rows={rows} keyOf={({ source, relation, target }) => `${source.id} ${relation.type} ${target.id}`} columns={COLUMNS()} />
      </div>
    </div>
  );
};

interface PictureProps extends ReturnType<typeof layoutOf> {
  readonly chosen: Node | undefined;
  readonly onChoose: (id: string | undefined) => void;
}

/** One stop of Tab: arrows walk to the next thing in their direction, Enter shows what belongs to it. */
const Picture = ({ nodes, edges, chosen, onChoose }: PictureProps) => {
  const picture = useRef<SVGSVGElement>(null);
  const [reached, setReached] = useState<string>();
  const at = nodes.find(({ id }) => id === reached) ?? nodes[0];
  const near = new Set(edges.filter(({ from, to }) => from === chosen || to === chosen).flatMap(({ from, to }) => [from, to]));
  const onKeyDown = (event: KeyboardEvent): void => {
    if (event.key === 'Escape' && chosen) onChoose(undefined);
    else if ((event.key === 'Enter' || event.key === ' ') && at) onChoose(at.id);
    else {
      const next = nodeAfter(event.key, nodes, at);
      if (!next) return;
      setReached(next.id);
      picture.current?.querySelector<SVGGElement>(`[data-node="${next.id}"]`)?.focus();
    }
    event.preventDefault();
  };
  return (
    <svg ref={picture} class="memory-graph" viewBox={`0 0 ${WIDTH} ${HEIGHT}`} role="group" aria-label={t('graph')} onKeyDown={onKeyDown}>
      {edges.map(({ from, to, key, label }) => (
        <line key={key} x1={from.x} y1={from.y} x2={to.x} y2={to.y} class={from === chosen || to === chosen ? 'chosen' : ''}>
          <title>{label}</title>
        </line>
      ))}
      {nodes.map((node) => (
        <g
          key={node.id}
          role="button"
          data-node={node.id}
          class={node === chosen ? 'chosen' : ''}
          tabIndex={node === at ? 0 : -1}
          aria-pressed={node === chosen}
          aria-label={t('thing', { name: node.name, count: node.relations })}
          onFocus={() => setReached(node.id)}
          onClick={() => onChoose(node.id)}
        >
          <circle cx={node.x} cy={node.y} r={6} />
          {(nodes.length <= MAX_LABELS || node === at || near.has(node)) && (
            <text x={node.x + (node.x > WIDTH / 2 ? -9 : 9)} y={node.y + 4} text-anchor={node.x > WIDTH / 2 ? 'end' : 'start'}>
              {node.name.length > MAX_NAME ? `${node.name.slice(0, MAX_NAME)}…` : node.name}
            </text>
          )}
        </g>
      ))}
    </svg>
  );
};

const OUTSIDE: ReadonlySet<string> = new Set(['api', 'tool']);

const COLUMNS = (): ReadonlyArray<Column<Match>> => [
  { id: 'source', title: t('from'), cell: ({ source }) => <bdi>{source.name}</bdi> },
  {
    id: 'relation',
    title: t('relation'),
    cell: ({ relation }) => (
      <>
        <bdi>{relation.type}</bdi> {relation.is_past && <Badge tone="warn">{t('replaced')}</Badge>}
      </>
    ),
  },
  { id: 'target', title: t('to'), cell: ({ target }) => <bdi>{target.name}</bdi> },
  {
    id: 'from_where',
    title: t('source'),
    isMinor: true,
    cell: ({ relation: { source, updated_at: at } }) => (
      <>
        {OUTSIDE.has(source) ? source : <a href={addressOf('memory', ['entry', source])}>{t('entry')}</a>} <span class="muted small-text">{dateTime(at)}</span>
      </>
    ),
  },
];
