/** `svc cron` and `svc schedules`: all of it is data. */
import type { CommandDecl, CommandWordDecl } from '@svc/api';

export const commandWords: readonly CommandWordDecl[] = [
  {
    word: 'cron',
    summary: 'jobs at set times: list, create, enable, run, fires',
    usage: 'cron list|create|show|update|enable|disable|run|fires|why|next|delete',
    order: 34,
    synonyms: [
      { word: 'schedule', means: 'cron list', runs: true },
      { word: 'schedules', means: 'cron list', runs: true },
      { word: 'why cron', means: 'cron why', runs: true, takesArguments: true },
    ],
  },
];

const line = (text: string) => ({ kind: 'line', text }) as const;

export const commands: readonly CommandDecl[] = [
  {
    command: 'cron list',
    summary: 'list jobs and when they are due next',
    operation: 'listCronJobs',
    output: {
      kind: 'table',
      rows: 'jobs',
      empty: 'There are no jobs. Create one: svc cron create AGENT "0 9 * * 1-5" "What is new?"',
      columns: [
        { field: 'id' },
        { field: 'name', shrinks: true },
        { field: 'schedule_text', title: 'SCHEDULE' },
        { field: 'next_run', title: 'NEXT', format: 'ago' },
        { field: 'last_status', title: 'LAST', givesWay: true, shrinks: true },
      ],
    },
  },
  {
    command: 'cron create',
    summary: 'create a job: an agent, a schedule, a message; --delivery telegram:CHAT sends the answer there',
    operation: 'createSchedule',
    args: ['agent_id', 'cron', 'prompt'],
    output: line('Created the job {id}; it is due next at {next_run}.'),
  },
  { command: 'cron show', summary: 'show one job', operation: 'getCronJob', args: ['id'], output: { kind: 'record' } },
  { command: 'cron update', summary: 'change fields of a job', operation: 'updateSchedule', args: ['id'], output: line('Updated the job {schedule_id}.') },
  {
    command: 'cron status',
    summary: 'show how a job does',
    operation: 'getCronJobStatus',
    args: ['id'],
    output: { kind: 'record', fields: ['last_status', 'consecutive_errors', 'auto_disabled', 'session_message_count', 'session_token_count'] },
  },
  { command: 'cron why', summary: 'say why a job did or did not fire', operation: 'getCronJobStatus', args: ['id'], output: line('{why}') },
  { command: 'cron enable', summary: 'enable a job, or disable it with --enabled=false', operation: 'enableCronJob', args: ['id'], output: line('Enabled: {enabled}. Next: {next_run}.') },
  { command: 'cron run', summary: 'run a job now and show its answer', operation: 'runSchedule', args: ['id'], output: { kind: 'record', fields: ['status', 'response', 'output', 'run_id'] } },
  {
    command: 'cron fires',
    summary: 'list what a job did, and why it did not',
    operation: 'listCronFires',
    args: ['id'],
    output: {
      kind: 'table',
      rows: 'fires',
      empty: 'The job has not fired yet.',
      columns: [
        { field: 'fired_at', title: 'AT', format: 'ago' },
        { field: 'status' },
        { field: 'kind' },
        { field: 'reason', shrinks: true },
        { field: 'delivered', givesWay: true },
        { field: 'run_id', title: 'RUN', givesWay: true },
      ],
    },
  },
  {
    command: 'cron next',
    summary: 'show when a cron expression is due',
    operation: 'previewCron',
    args: ['expr'],
    output: {
      kind: 'table',
      rows: 'times',
      empty: 'It is never due.',
      columns: [
        { field: 'local', title: 'LOCAL' },
        { field: 'at', title: 'UTC' },
      ],
    },
  },
  { command: 'cron delete', summary: 'delete a job and its fires', operation: 'deleteCronJob', args: ['id'], confirm: 'Delete the job {id}?', output: line('Deleted the job {job_id}.') },
];
