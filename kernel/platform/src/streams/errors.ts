import { defineErrors } from '@svc/api';

export const streamErrors = defineErrors('stream', {
  not_found: { status: 404, retry: false, message: (topic: string) => `There is no stream "${topic}"; it ended a while ago or never began.`, hint: 'Ask for the run itself; its result is kept.' },
  wrong_format: {
    status: 500,
    retry: false,
    message: (topic: string, type: string, format: string, declared: string) => `A frame "${type}" of the format ${format} was published to "${topic}", which carries ${declared}.`,
    hint: 'Publish only frame types that the format of the topic declares.',
  },
  unknown_projection: { status: 503, retry: true, message: (name: string) => `Nothing shows frames as ${name} now: the area that does is off.`, hint: 'Ask again when it is on.' },
  too_many: { status: 503, retry: true, message: (max: number) => `${max} streams are open, no more fit.`, hint: 'Wait until some runs have ended.' },
  reader_too_slow: { status: 503, retry: true, message: (topic: string) => `The reader of "${topic}" fell behind what is kept.`, hint: 'Follow again from the last frame that arrived.' },
  moved: {
    status: 503,
    retry: true,
    message: (topic: string) => `"${topic}" goes on in another process, and a part of it did not arrive here.`,
    hint: 'Follow again from the last frame that arrived.',
  },
  not_writer: {
    status: 403,
    retry: false,
    message: (extension: string, topic: string) => `${extension} may not write the stream "${topic}": another extension opened it, or nobody did here.`,
    hint: 'Open a topic of your own, or have its owner name you among its `writers`.',
  },
  stopping: { status: 503, retry: true, message: () => 'The service is stopping.', hint: 'Connect again in a moment; the stream goes on from the last frame.' },
});
