/** All that one run led to, as a tree. Nothing where it stands alone. */
import { addressOf, Button, confirmed, count, daemon, needs, notify, Section, useFresh, useLoaded } from '@svc/kit';
import { isActive, type ListedRun, nameOf, type Run, StateBadge } from './run-state.js';
import { t } from './words.js';

const MAX_RUNS = 200;

interface Placed {
  readonly run: ListedRun;
  readonly depth: number;
}

export const RunTree = ({ of }: { of: Run }) => {
  const loaded = useLoaded(`runs of root ${of.root_id}`, (signal) => daemon.call('listRuns', { root_id: of.root_id, limit: MAX_RUNS }, { signal }));
  useFresh(loaded.reload, ['run']);
  const placed = treeOf(loaded.data?.runs ?? []);
  if (placed.length < (of.agent_id === null ? 1 : 2)) return null;
  const going = placed.filter(({ run }) => isActive(run)).length;
  const stopAll = async (): Promise<void> => {
    if (!(await confirmed({ title: t('stop_all_title'), text: t('stop_all_text', { count: count(going) }), action: t('stop_all'), isDangerous: true }))) return;
    await daemon.call('stopRun', { id: of.root_id });
    notify(t('stopped_all'));
    loaded.reload();
  };
  return (
    <Section
      title={t('tree')}
      actions={
        going > 0 && (
          <Button kind="danger" small icon="circle-stop" {...needs('runs.send')} onPress={stopAll}>
            {t('stop_all')}
          </Button>
        )
      }
    >
      <ul class="runs-tree">
        {placed.map(({ run, depth }) => (
          <li key={run.run_id} style={{ paddingInlineStart: `${depth}rem` }}>
            <StateBadge status={run.status} />{' '}
            <a href={addressOf('runs', [run.run_id])} {...(run.run_id === of.run_id ? { 'aria-current': 'true' as const } : {})}>
              <bdi>{nameOf(run)}</bdi>
            </a>{' '}
            <span class="small-text">{causeText(run)}</span>
          </li>
        ))}
      </ul>
    </Section>
  );
};

export const causeText = ({ cause }: Pick<ListedRun, 'cause'>): string => t(`cause_${cause.kind}`);

/** Each below the one that began it; what has none here, because it is other work or is gone, stands at the margin. */
const treeOf = (runs: readonly ListedRun[]): Placed[] => {
  const ids = new Set(runs.map(({ run_id: id }) => id));
  const oldestFirst = runs.toReversed();
  const below = (parent: string | null, depth: number): Placed[] =>
    oldestFirst.filter(({ parent_run_id: above }) => (above !== null && ids.has(above) ? above : null) === parent).flatMap((run) => [{ run, depth }, ...below(run.run_id, depth + 1)]);
  return below(null, 0);
};
