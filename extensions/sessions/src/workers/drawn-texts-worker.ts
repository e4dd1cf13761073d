/** The worker that draws the texts of a shared page: Markdown in, HTML out, in the same order. */
import { defineWorker, Type } from '@svc/api';

const Texts = Type.Array(Type.String());

export const DrawnTexts = defineWorker('sessions.drawn-texts', { input: Texts, output: Texts });
