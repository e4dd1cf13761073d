/** Workflows, their runs and what they ask. `#/workflows/ID` is one, `#/workflows/ID/RUN` one of its runs. */
import './workflows/workflows.css';
import {
  addressOf,
  ago,
  Badge,
  Button,
  type Column,
  confirmed,
  count,
  daemon,
  dateTime,
  definePanel,
  Empty,
  FormDialog,
  may,
  money,
  notify,
  type OutputOf,
  PanelBody,
  PanelHead,
  type PanelProps,
  Section,
  Shown,
  Table,
  TextArea,
  type Tone,
  useFresh,
  useLoaded,
  useState,
} from '@svc/kit';
import { WorkflowGraph } from './workflows/graph.js';
import { TemplateForm } from './workflows/template-form.js';
import { t } from './workflows/words.js';

type Workflow = OutputOf<'listWorkflows'>['workflows'][number];
type Run = OutputOf<'listWorkflowRuns'>[number];
type Result = OutputOf<'getWorkflowRun'>['step_results'][number];
type Question = OutputOf<'listWorkflowQuestions'>['pending'][number];

const TONES: Readonly<Record<string, Tone>> = { running: 'info', waiting: 'warn', paused: 'warn', completed: 'good', done: 'good', failed: 'bad' };
const EXAMPLE = `{
  "name": "Research and write",
  "steps": [
    { "name": "facts", "agent": "assistant", "input": "Collect facts about {{input}}." },
    { "name": "page", "agent": "assistant", "input": "Write a page from these facts: {{facts}}" }
  ]
}`;

const Workflows = ({ path: [id, run] }: PanelProps) => (id === undefined ? <All /> : run === undefined ? <One id={id} /> : <OneRun id={id} run={run} />);

const State = ({ state }: { state: string }) => <Badge tone={TONES[state] ?? 'quiet'}>{state}</Badge>;
const Moment = ({ at }: { at: string }) => (
  <time dateTime={at} title={dateTime(at)}>
    {ago(at, Date.now())}
  </time>
);

const All = () => {
  const [isCreating, setCreating] = useState(false);
  const [isChoosing, setChoosing] = useState(false);
  const all = useLoaded('workflows', (signal) => daemon.call('listWorkflows', {}, { signal }));
  const asked = useLoaded('workflow questions', (signal) => daemon.call('listWorkflowQuestions', {}, { signal }));
  const reload = (): void => {
    all.reload();
    asked.reload();
  };
  useFresh(reload, ['workflows.changed']);
  return (
    <>
      <PanelHead
        title={t('title')}
        note={t('note')}
        actions={
          may('workflows.write') && (
            <>
              <Button icon="list-tree" onPress={() => setChoosing(true)}>
                {t('from_template')}
              </Button>
              <Button kind="primary" icon="plus" onPress={() => setCreating(true)}>
                {t('create')}
              </Button>
            </>
          )
        }
      />
      <PanelBody>
        {(asked.data?.total ?? 0) > 0 && (
          <Section title={t('pending')}>
            <Table label={t('pending')} columns={questionColumns(reload)} rows={asked.data?.pending ?? []} keyOf={({ run_id: id }) => id} />
          </Section>
        )}
        <Shown of={all} lines={8}>
          {({ workflows: rows }) =>
            rows.length === 0 ? (
              <Empty icon="list-tree" title={t('none')}>
                <p>{t('none_text')}</p>
              </Empty>
            ) : (
              <Table label={t('table')} columns={columnsOf(reload)} rows={rows} keyOf={({ id }) => id} hrefOf={({ id }) => addressOf('workflows', [id])} />
            )
          }
        </Shown>
      </PanelBody>
      {isChoosing && <TemplateForm onClose={() => setChoosing(false)} onSaved={reload} />}
      {isCreating && <CreateForm onClose={() => setCreating(false)} onSaved={reload} />}
    </>
  );
};

const questionColumns = (reload: () => void): ReadonlyArray<Column<Question>> => [
  { id: 'step', title: t('step'), cell: ({ step_name: name }) => <bdi>{name}</bdi> },
  { id: 'question', title: t('question'), cell: ({ input }) => <bdi>{input}</bdi> },
  { id: 'actions', title: t('actions'), align: 'end', cell: ({ run_id: id }) => may('workflows.write') && <Answer id={id} reload={reload} /> },
];

const Answer = ({ id, reload }: { id: string; reload: () => void }) => {
  const say = (action: 'approve' | 'reject') => async (): Promise<void> => {
    await daemon.call('answerWorkflowQuestion', { run_id: id, body: { action } });
    reload();
  };
  return (
    <>
      <Button small onPress={say('approve')}>
        {t('approve')}
      </Button>
      <Button small onPress={say('reject')}>
        {t('reject')}
      </Button>
    </>
  );
};

const columnsOf = (reload: () => void): ReadonlyArray<Column<Workflow>> => [
  { id: 'name', title: t('name'), cell: ({ name }) => <bdi>{name}</bdi> },
  { id: 'steps', title: t('steps'), align: 'end', isMinor: true, cell: ({ steps }) => count(steps) },
  { id: 'runs', title: t('runs'), align: 'end', isMinor: true, cell: ({ run_count: runs }) => count(runs) },
  { id: 'last', title: t('last'), cell: ({ last_run: last }) => last && <State state={last.state} /> },
  { id: 'actions', title: t('actions'), align: 'end', cell: (one) => may('workflows.write') && <Actions workflow={one} reload={reload} /> },
];

const Actions = ({ workflow: { id, name }, reload }: { workflow: Workflow; reload: () => void }) => {
  const [isRunning, setRunning] = useState(false);
  const remove = async (): Promise<void> => {
    if (!(await confirmed({ title: t('delete'), text: t('sure', { name }), action: t('delete'), isDangerous: true }))) return;
    await daemon.call('deleteWorkflow', { id });
    reload();
  };
  return (
    <>
      <Button small onPress={() => setRunning(true)}>
        {t('run')}
      </Button>
      <Button small onPress={remove}>
        {t('delete')}
      </Button>
      {isRunning && <RunForm id={id} onClose={() => setRunning(false)} onStarted={reload} />}
    </>
  );
};

const RunForm = ({ id, onClose, onStarted }: { id: string; onClose: () => void; onStarted: () => void }) => {
  const [input, setInput] = useState('');
  const start = async (): Promise<void> => {
    await daemon.call('runWorkflow', { id, wait: false, body: { input } });
    notify(t('started'));
    onStarted();
    onClose();
  };
  return (
    <FormDialog title={t('run')} action={t('run')} onSubmit={start} onClose={onClose}>
      <TextArea label={t('input')} value={input} onValue={setInput} rows={4} />
    </FormDialog>
  );
};

const CreateForm = ({ onClose, onSaved }: { onClose: () => void; onSaved: () => void }) => {
  const [text, setText] = useState(EXAMPLE);
  const save = async (): Promise<void> => {
    await daemon.call('createWorkflow', { body: JSON.parse(text) });
    onSaved();
    onClose();
  };
  return (
    <FormDialog title={t('create')} action={t('save')} onSubmit={save} onClose={onClose} wide>
      <TextArea label={t('definition')} hint={t('definition_hint')} value={text} onValue={setText} isCode language="json" rows={16} />
    </FormDialog>
  );
};

const One = ({ id }: { id: string }) => {
  const one = useLoaded(`workflow ${id}`, (signal) => daemon.call('getWorkflow', { id }, { signal }));
  const runs = useLoaded(`workflow runs ${id}`, (signal) => daemon.call('listWorkflowRuns', { id }, { signal }));
  useFresh(() => runs.reload(), ['workflows.changed', 'run']);
  return (
    <>
      <PanelHead back={{ href: addressOf('workflows'), label: t('back') }} title={one.data?.name ?? t('title')} note={one.data?.steps.map(({ name }) => name).join(' → ')} />
      <PanelBody>
        {one.data && <WorkflowGraph steps={one.data.steps} />}
        <Shown of={runs} lines={8}>
          {(rows) =>
            rows.length === 0 ? (
              <Empty icon="list-tree" title={t('runs_none')} />
            ) : (
              <Table label={t('runs')} columns={runColumns} rows={rows} keyOf={(run) => run.id} hrefOf={(run) => addressOf('workflows', [id, run.id])} />
            )
          }
        </Shown>
      </PanelBody>
    </>
  );
};

const runColumns: ReadonlyArray<Column<Run>> = [
  { id: 'started', title: t('started_at'), cell: ({ started_at: at }) => <Moment at={at} /> },
  { id: 'state', title: t('state'), cell: ({ state }) => <State state={state} /> },
  { id: 'cost', title: t('cost'), align: 'end', isMinor: true, cell: ({ cost_usd: cost }) => money(cost) },
  { id: 'result', title: t('result'), cell: ({ error }) => <bdi>{error ?? ''}</bdi> },
];

const OneRun = ({ id, run }: { id: string; run: string }) => {
  const detail = useLoaded(`workflow run ${run}`, (signal) => daemon.call('getWorkflowRun', { run_id: run }, { signal }));
  useFresh(() => detail.reload(), ['workflows.changed', 'run']);
  const isOpen = detail.data !== undefined && ['running', 'paused', 'pending'].includes(detail.data.state);
  const cancel = async (): Promise<void> => {
    await daemon.call('cancelWorkflowRun', { run_id: run });
    detail.reload();
  };
  return (
    <>
      <PanelHead
        back={{ href: addressOf('workflows', [id]), label: t('back_to_one') }}
        title={detail.data?.workflow_name ?? t('title')}
        actions={isOpen && may('workflows.write') && <Button onPress={cancel}>{t('cancel')}</Button>}
      />
      <PanelBody>
        <Shown of={detail} lines={8}>
          {({ state, output, error, steps, step_results: results }) => (
            <div class="stack">
              <p role="status">
                <State state={state} /> <bdi>{error ?? output ?? ''}</bdi>
              </p>
              <WorkflowGraph steps={steps} results={results} />
              <Table label={t('steps')} columns={stepColumns} rows={results} keyOf={({ step_name: name }) => name} />
            </div>
          )}
        </Shown>
      </PanelBody>
    </>
  );
};

const stepColumns: ReadonlyArray<Column<Result>> = [
  { id: 'step', title: t('step'), cell: ({ step_name: name }) => <bdi>{name}</bdi> },
  { id: 'state', title: t('state'), cell: ({ state }) => <State state={state} /> },
  { id: 'agent', title: t('agent'), isMinor: true, cell: ({ agent_name: name }) => <bdi>{name ?? ''}</bdi> },
  { id: 'cost', title: t('cost'), align: 'end', isMinor: true, cell: ({ cost_usd: cost }) => money(cost) },
  { id: 'output', title: t('output'), cell: ({ output, error }) => <bdi>{error ?? output ?? ''}</bdi> },
];

export const panel = definePanel({ view: Workflows });
