/** The edges of each schema, and requests at random. */
import { describeFuzzer } from './fuzzer.js';

describeFuzzer(['coverage']);
describeFuzzer(['fuzzing']);
