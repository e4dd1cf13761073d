/** The examples of the document, and the edges of each schema. */
import { describeFuzzer } from './fuzzer.js';

describeFuzzer(['examples', 'coverage']);
