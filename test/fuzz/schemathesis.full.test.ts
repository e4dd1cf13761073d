/** Requests at random. */
import { describeFuzzer } from './fuzzer.js';

describeFuzzer(['fuzzing']);
