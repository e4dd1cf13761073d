/** One run: how it stands, why it ended, what it did and when. */
import {
  addressOf,
  Badge,
  Button,
  confirmed,
  CopyButton,
  count,
  daemon,
  dateTime,
  Facts,
  Icon,
  LinkButton,
  money,
  needs,
  notify,
  PanelBody,
  PanelHead,
  Section,
  Shown,
  Stat,
  Stats,
  useFresh,
  useLoaded,
  useOffered,
} from '@svc/kit';
import { isActive, nameOf, type Run, shownName, StateBadge, tookOf, useNow } from './run-state.js';
import { RunHooks } from './run-hooks.js';
import { causeText, RunTree } from './run-tree.js';
import { StepTable } from './step-table.js';
import { Timeline } from './timeline.js';
import { t } from './words.js';

export const RunView = ({ id }: { id: string }) => {
  const loaded = useLoaded(`run ${id}`, (signal) => daemon.call('getRun', { id }, { signal }));
  useFresh(loaded.reload, ['run']);
  const isOffered = useOffered();
  const { data: run } = loaded;
  const now = useNow(run !== undefined && isActive(run));
  const stop = async (): Promise<void> => {
    if (!run || !(await confirmed({ title: t('stop_title'), text: t('stop_text', { name: nameOf(run) }), action: t('stop'), isDangerous: true }))) return;
    const { stopped } = await daemon.call('stopRun', { id });
    notify(t(stopped > 0 ? 'stopped' : 'was_over'));
    loaded.reload();
  };
  return (
    <>
      <PanelHead
        title={run ? <bdi>{run.agent_id === null ? causeText(run) : nameOf(run)}</bdi> : t('title')}
        note={
          run && (
            <span class="row wrap">
              <StateBadge status={run.status} />
              {run.is_aside && <Badge>{t('aside')}</Badge>}
            </span>
          )
        }
        back={{ href: addressOf('runs'), label: t('back') }}
        actions={
          run && (
            <>
              {!run.is_aside && run.agent_name !== null && run.agent_id !== null && run.session_id !== null && isOffered('chat') && (
                <LinkButton icon="message-square" href={addressOf('chat', [run.agent_id, run.session_id])}>
                  {t('conversation')}
                </LinkButton>
              )}
              {isActive(run) && (
                <Button kind="danger" icon="circle-stop" {...needs('runs.send')} onPress={stop}>
                  {t('stop')}
                </Button>
              )}
            </>
          )
        }
      />
      <PanelBody>
        <Shown of={loaded} lines={8}>
          {(one) => (
            <>
              <Ending run={one} />
              <Stats>
                <Stat icon="clock" label={t('took')} value={tookOf(one, now)} note={dateTime(one.started_at)} />
                <Stat icon="list-tree" label={t('steps')} value={count(one.step_count)} note={one.model === null ? undefined : shownName(one.model)} />
                <Stat
                  icon="activity"
                  label={t('tokens')}
                  value={count(one.input_tokens + one.output_tokens)}
                  note={t('tokens_of', { input: count(one.input_tokens), output: count(one.output_tokens) })}
                />
                <Stat icon="coins" label={t('money')} value={money(one.cost_usd)} />
              </Stats>
              <Timeline run={one} now={now} />
              {one.steps.length > 0 && <StepTable run={one} now={now} />}
              <RunTree of={one} />
              {isOffered('plugins') && <RunHooks id={id} />}
              <About run={one} />
            </>
          )}
        </Shown>
      </PanelBody>
    </>
  );
};

const ToApprovals = () =>
  useOffered()('approvals') ? (
    <div>
      <LinkButton href={addressOf('approvals')}>{t('to_approvals')}</LinkButton>
    </div>
  ) : null;

const Ending = ({ run: { error, waiting, status } }: { run: Run }) => (
  <>
    {error && (
      <div class={status === 'failed' ? 'card runs-ending bad' : 'card runs-ending'}>
        <h2 class="row">
          <Icon name={status === 'failed' ? 'circle-alert' : 'info'} />
          {t('error_title')}
        </h2>
        <p>{error.message}</p>
        {error.hint && <p>{error.hint}</p>}
        {error.retry && <p>{t('may_retry')}</p>}
        <p class="small-text">
          <code>{error.code}</code>
        </p>
      </div>
    )}
    {waiting && (
      <div class="card runs-ending waits">
        <h2 class="row">
          <Icon name="pause" />
          {t('waits')}
        </h2>
        <p>
          {waiting.reason === 'approval' ? t('waits_approval') : waiting.reason}
          {waiting.until && `, ${t('waits_until', { time: dateTime(waiting.until) })}`}
        </p>
        <ToApprovals />
      </div>
    )}
  </>
);

const CHANNELS = ['rest', 'sse', 'ws', 'openai', 'agent', 'cli', 'internal'] as const;

const About = ({ run }: { run: Run }) => {
  const door = CHANNELS.find((one) => one === run.channel);
  return (
    <Section title={t('facts')}>
      <Facts
        rows={[
          [t('began'), dateTime(run.started_at)],
          [t('ended'), run.ended_at === null ? t('not_ended') : dateTime(run.ended_at)],
          [t('cause'), causeText(run)],
          [t('door'), door ? t(`door_${door}`) : run.channel],
          ...(run.agent_id === null
            ? []
            : [
                [
                  t('agent'),
                  <a key="agent" href={addressOf('runs', [], { agent: run.agent_id })}>
                    {t('agent_runs')}
                  </a>,
                ] as const,
              ]),
          ...(run.parent_run_id === null
            ? []
            : [
                [
                  t('parent'),
                  <a key="parent" href={addressOf('runs', [run.parent_run_id])}>
                    {t('parent_run')}
                  </a>,
                ] as const,
              ]),
          [
            t('id'),
            <span key="id" class="row">
              <code>{run.run_id}</code>
              <CopyButton text={run.run_id} />
            </span>,
          ],
        ]}
      />
    </Section>
  );
};
