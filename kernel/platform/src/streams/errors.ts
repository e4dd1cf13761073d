import { defineErrors } from '@svc/api';

export const streamErrors = defineErrors('stream', {
  not_found: { status: 404, retry: false, message: (topic: string) => `There is no stream "${topic}"; it ended a while ago or never existed.`, hint: 'Read the run instead; it has the result.' },
  wrong_format: {
    status: 500,
    retry: false,
    message: (topic: string, type: string, format: string, declared: string) => `A frame "${type}" of the format ${format} was published to "${topic}", which carries ${declared}.`,
    hint: 'Publish only frame types that the format of the topic declares.',
  },
  unknown_projection: { status: 503, retry: true, message: (name: string) => `No extension formats frames as ${name} now: the one that does is off.`, hint: 'Try again when it is on.' },
  too_many: { status: 503, retry: true, message: (max: number) => `${max} streams are open, which is the limit.`, hint: 'Wait until some runs have ended.' },
  reader_too_slow: { status: 503, retry: true, message: (topic: string) => `The reader of "${topic}" fell too far behind.`, hint: 'Reconnect from the last frame that arrived.' },
  moved: {
    status: 503,
    retry: true,
    message: (topic: string) => `"${topic}" continues in another process, and some frames did not arrive.`,
    hint: 'Reconnect from the last frame that arrived.',
  },
  not_writer: {
    status: 403,
    retry: false,
    message: (extension: string, topic: string) => `${extension} may not write the stream "${topic}": it is not open, or another extension opened it.`,
    hint: 'Open your own topic, or have the extension that opened it add you to its `writers`.',
  },
  stopping: { status: 503, retry: true, message: () => 'The service is stopping.', hint: 'Reconnect in a moment; the stream continues from the last frame.' },
});
