/** @svc/testing as it is packed: what somebody outside this repository tests an extension with. Its types name nothing of the kernel. */
export { TestHttp, type SseEvent, type TestAnswer } from '../test-http.js';
export { type ContractOptions, describeExtension } from './contract.js';
export { bootTestKernel, stopTestKernels, type TestKernel, type TestKernelOptions } from './kernel.js';
export { type Asked, startModel, type TestModel } from './model.js';
