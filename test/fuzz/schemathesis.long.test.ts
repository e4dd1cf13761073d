/** The examples of the document. */
import { describeFuzzer } from './fuzzer.js';

describeFuzzer(['examples']);
