/** The calls of hooks, with what went in and what came out. */
import { Badge, Button, Empty, Facts, type OutputOf, Section, Table, useState } from '@svc/kit';
import { t } from './words.js';

export type Trace = OutputOf<'listPluginTraces'>['traces'][number];

const isLost = (note: string | null): boolean => note?.includes('it has no effect') ?? false;

export const Traces = ({ rows }: { rows: readonly Trace[] }) => {
  const [open, setOpen] = useState<string>();
  const shown = rows.find(({ trace_id: id }) => id === open);
  return (
    <Section title={t('traces')}>
      {rows.length === 0 ? (
        <Empty icon="clock" title={t('no_traces')}>
          <p>{t('no_traces_text')}</p>
        </Empty>
      ) : (
        <Table
          label={t('list_of', { what: t('traces') })}
          rows={rows}
          keyOf={({ trace_id: id }) => id}
          columns={[
            { id: 'at', title: t('at'), cell: ({ started_at: at }: Trace) => new Date(at).toLocaleTimeString() },
            { id: 'hook', title: t('hook'), cell: ({ plugin, hook }: Trace) => <bdi>{`${plugin} ${hook}`}</bdi> },
            { id: 'ms', title: t('ms'), align: 'end', cell: ({ elapsed_ms: ms }: Trace) => ms },
            {
              id: 'result',
              title: t('result'),
              cell: ({ error, message, note }: Trace) => (
                <>
                  <Badge tone={error === null ? (isLost(note) ? 'warn' : 'good') : 'bad'}>{error ?? t(isLost(note) ? 'no_effect' : 'ok')}</Badge>
                  <div class="muted small-text">{message ?? note ?? ''}</div>
                </>
              ),
            },
            {
              id: 'open',
              title: t('details'),
              align: 'end',
              cell: ({ trace_id: id }: Trace) => <Button onPress={() => setOpen(id === open ? undefined : id)}>{t(id === open ? 'hide' : 'show')}</Button>,
            },
          ]}
        />
      )}
      {shown && <OneTrace trace={shown} />}
    </Section>
  );
};

const OneTrace = ({ trace }: { trace: Trace }) => (
  <div class="stack">
    <Facts
      rows={[
        [t('hook'), `${trace.plugin} ${trace.hook}`],
        [t('exit'), trace.exit_code === null ? '–' : String(trace.exit_code)],
        [t('line'), trace.line === null ? '–' : String(trace.line)],
        [t('walls'), trace.walls],
        [t('run'), trace.correlation_id ?? '–'],
      ]}
    />
    <pre class="code">{trace.input_preview}</pre>
    <pre class="code">{trace.output_preview}</pre>
    {trace.stderr_preview !== '' && <pre class="code">{trace.stderr_preview}</pre>}
  </div>
);
