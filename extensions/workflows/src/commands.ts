/** `svc workflows`: all of it is data. */
import type { CommandDecl, CommandWordDecl } from '@svc/api';

export const commandWords: readonly CommandWordDecl[] = [
  {
    word: 'workflows',
    summary: 'steps of several agents: list, create, run, watch, answer',
    usage: 'workflows list|create|show|run|runs|rerun|templates|answer|…',
    order: 33,
    module: 'workflows',
    synonyms: [
      { word: 'workflow list', means: 'workflows list' },
      { word: 'workflow run', means: 'workflows run', runs: true, takesArguments: true },
    ],
  },
];

const line = (text: string) => ({ kind: 'line', text }) as const;

export const commands: readonly CommandDecl[] = [
  {
    command: 'workflows list',
    summary: 'list workflows and how they did last',
    operation: 'listWorkflows',
    output: {
      kind: 'table',
      rows: 'workflows',
      empty: 'There are no workflows. Create one from a file: svc workflows create workflow.toml',
      columns: [
        { field: 'id' },
        { field: 'name', shrinks: true },
        { field: 'steps', format: 'number' },
        { field: 'run_count', title: 'RUNS', format: 'number' },
        { field: 'last_run.state', title: 'LAST' },
        { field: 'updated_at', title: 'UPDATED', format: 'ago', givesWay: true },
      ],
    },
  },
  { command: 'workflows show', summary: 'show one workflow', operation: 'getWorkflow', args: ['id'], output: { kind: 'record' } },
  { command: 'workflows update', summary: 'change a workflow', operation: 'updateWorkflow', args: ['id'], output: line('Updated the workflow {id}.') },
  {
    command: 'workflows try',
    summary: 'show what a workflow would ask, without asking',
    operation: 'previewWorkflow',
    args: ['id', 'input'],
    output: {
      kind: 'table',
      rows: 'steps',
      empty: 'It has no steps.',
      columns: [
        { field: 'step_name', title: 'STEP' },
        { field: 'agent_name', title: 'AGENT' },
        { field: 'resolved_prompt', title: 'PROMPT', shrinks: true },
      ],
    },
  },
  {
    command: 'workflows runs',
    summary: 'list the runs of a workflow',
    operation: 'listWorkflowRuns',
    args: ['id'],
    output: {
      kind: 'table',
      empty: 'It has not run yet.',
      columns: [
        { field: 'id' },
        { field: 'state' },
        { field: 'steps_completed', title: 'STEPS', format: 'number' },
        { field: 'cost_usd', title: 'COST', format: 'usd' },
        { field: 'started_at', title: 'STARTED', format: 'ago' },
        { field: 'error', shrinks: true },
      ],
    },
  },
  {
    command: 'workflows show-run',
    summary: 'show a run with its steps',
    operation: 'getWorkflowRun',
    args: ['run_id'],
    output: {
      kind: 'table',
      rows: 'step_results',
      empty: 'No step has begun.',
      columns: [
        { field: 'step_name', title: 'STEP' },
        { field: 'state' },
        { field: 'agent_name', title: 'AGENT' },
        { field: 'cost_usd', title: 'COST', format: 'usd' },
        { field: 'output', shrinks: true },
        { field: 'error', shrinks: true },
      ],
    },
  },
  { command: 'workflows cancel', summary: 'cancel a run', operation: 'cancelWorkflowRun', args: ['run_id'], output: line('Cancelled the run {run_id}.') },
  { command: 'workflows pause', summary: 'pause a run', operation: 'pauseWorkflowRun', args: ['run_id'], output: line('Paused. Resume it: svc workflows resume {run_id} {resume_token}') },
  { command: 'workflows resume', summary: 'resume a paused run', operation: 'resumeWorkflowRun', args: ['run_id', 'resume_token'], output: line('The run {run_id} goes on.') },
  { command: 'workflows rerun', summary: 'run again with the same input, or from a step on', operation: 'runWorkflowAgain', args: ['run_id'], output: line('Started the run {run_id}.') },
  {
    command: 'workflows templates',
    summary: 'list templates of workflows',
    operation: 'listWorkflowTemplates',
    output: {
      kind: 'table',
      rows: 'templates',
      empty: 'There is no such template.',
      columns: [{ field: 'id' }, { field: 'category' }, { field: 'name' }, { field: 'description', shrinks: true }],
    },
  },
  { command: 'workflows template', summary: 'show a template with its parameters', operation: 'getWorkflowTemplate', args: ['id'], output: { kind: 'record' } },
  {
    command: 'workflows from-template',
    summary: 'create a workflow from a template; --file has its values',
    operation: 'instantiateWorkflowTemplate',
    args: ['id'],
    output: line('Created the workflow {workflow_id}. Run it: svc workflows run {workflow_id}'),
  },
  {
    command: 'workflows save-template',
    summary: 'save a workflow as a template',
    operation: 'saveWorkflowTemplate',
    args: ['id'],
    output: line('Saved it as a template. List them: svc workflows templates'),
  },
  {
    command: 'workflows pending',
    summary: 'list what workflows ask people',
    operation: 'listWorkflowQuestions',
    output: {
      kind: 'table',
      rows: 'pending',
      empty: 'No workflow asks anything.',
      columns: [
        { field: 'run_id', title: 'RUN' },
        { field: 'step_name', title: 'STEP' },
        { field: 'asked_at', title: 'ASKED', format: 'ago' },
        { field: 'input', shrinks: true },
      ],
    },
  },
  {
    command: 'workflows answer',
    summary: 'answer what a run asks: approve, reject, edit',
    operation: 'answerWorkflowQuestion',
    args: ['run_id', 'action'],
    output: line('Answered {step_name}: {action}.'),
  },
  { command: 'workflows delete', summary: 'delete a workflow', operation: 'deleteWorkflow', args: ['id'], confirm: 'Delete the workflow {id}?', output: line('Deleted the workflow {workflow_id}.') },
];
