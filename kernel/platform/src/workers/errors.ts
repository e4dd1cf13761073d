import { defineErrors } from '@svc/api';

export const workerErrors = defineErrors('workers', {
  busy: { status: 503, retry: true, message: (lane: string) => `The ${lane} workers are busy and their queue is full.`, hint: 'Try again in a moment.' },
  timeout: { status: 504, retry: true, message: (name: string, ms: number) => `The worker function ${name} took more than ${ms} ms and was ended.` },
  cancelled: { status: 499, retry: false, message: (name: string) => `The worker function ${name} was stopped because its caller disconnected.` },
  out_of_memory: { status: 503, retry: false, message: (name: string) => `The worker function ${name} needed more memory than allowed.` },
  failed: { status: 500, retry: false, message: (name: string) => `The worker function ${name} failed.`, hint: 'The log has the cause.' },
  closed: { status: 503, retry: true, message: () => 'The daemon is stopping and takes no more work.' },
});
