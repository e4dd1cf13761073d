/** A workflow as a drawing, which fills while it runs. A step that is chosen shows what it was asked and what it answered. */
import { money, type OutputOf, Section, useMemo, useState } from '@svc/kit';
import { BOX, drawn } from './layout.js';
import { t } from './words.js';

type Detail = OutputOf<'getWorkflowRun'>;
type Step = Detail['steps'][number];
type Result = Detail['step_results'][number];

const MAX_LETTERS = 20;
const ROUND = / \(iter \d+\)$/;

const short = (text: string): string => (text.length > MAX_LETTERS ? `${text.slice(0, MAX_LETTERS - 1)}…` : text);
const stepOf = ({ step_name: name }: Result): string => name.replace(ROUND, '');
const secsOf = ({ started_at: from, ended_at: to }: Result): string => (to === null ? '' : `${((Date.parse(to) - Date.parse(from)) / 1_000).toFixed(1)} s`);
/** The last round of a loop, the last try of a step. */
const newest = (results: readonly Result[], name: string): Result | undefined => results.filter((one) => stepOf(one) === name).at(-1);

const lineOf = (step: Step, result: Result | undefined): string => {
  if (!result) return step.agent ?? step.mode;
  return [t(`state_${result.state}`), secsOf(result), result.cost_usd > 0 ? money(result.cost_usd) : ''].filter(Boolean).join(' · ');
};

export const WorkflowGraph = ({ steps, results = [] }: { steps: readonly Step[]; results?: readonly Result[] }) => {
  const [chosen, setChosen] = useState<string>();
  const { width, height, places, lines } = useMemo(() => drawn(steps), [steps]);
  const result = chosen === undefined ? undefined : newest(results, chosen);
  const step = steps.find(({ name }) => name === chosen);
  return (
    <div class="stack">
      <div class="flow-frame" role="region" aria-label={t('graph')} tabIndex={0}>
        <svg class="flow" width={width} height={height} viewBox={`0 0 ${width} ${height}`} role="group" aria-label={t('graph')}>
          {lines.map(({ from, to, path }) => (
            <path key={`${from} ${to}`} class={`flow-line ${newest(results, from)?.state ?? ''}`} d={path} />
          ))}
          {steps.map((one) => {
            const { x, y } = places.get(one.name) ?? { x: 0, y: 0 };
            const found = newest(results, one.name);
            const said = lineOf(one, found);
            return (
              <a
                key={one.name}
                class={`flow-box ${found?.state ?? 'next'} ${one.name === chosen ? 'chosen' : ''}`}
                href={location.hash}
                aria-label={`${one.name}: ${said}`}
                onClick={(event) => {
                  event.preventDefault();
                  setChosen(one.name === chosen ? undefined : one.name);
                }}
              >
                <title>{`${one.name}: ${said}`}</title>
                <rect x={x} y={y} width={BOX.width} height={BOX.height} rx="8" />
                <text x={x + 12} y={y + 21}>
                  {short(one.name)}
                </text>
                <text class="flow-said" x={x + 12} y={y + 40}>
                  {short(said)}
                </text>
              </a>
            );
          })}
        </svg>
      </div>
      {step && (
        <Section title={step.name}>
          <dl class="flow-detail">
            <dt>{t('input')}</dt>
            <dd>
              <bdi>{result?.prompt ?? step.prompt_template}</bdi>
            </dd>
            <dt>{t('output')}</dt>
            <dd>
              <bdi>{result?.error ?? result?.output ?? t('not_yet')}</bdi>
            </dd>
          </dl>
        </Section>
      )}
    </div>
  );
};
