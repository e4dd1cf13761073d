/**
 * A bus that keeps what the contract allows and no more: messages go through JSON, come late, and many never come.
 * From one sender on one channel those that do come are in order.
 */
import type { Disposable } from '@svc/api';
import type { Bus, BusMessages } from '@svc/platform/bus/bus';
import { createLocalBusHub } from '@svc/platform/bus/local-bus';

export interface RoughBusOptions {
  /** From 0 to 1, the next of a row that a seed fixes. */
  random(): number;
  /** The share of messages that are lost. */
  lost: number;
  maxDelayMs: number;
}

export interface RoughBus {
  join(name: string): Bus;
  /** From now on nothing that this member says, or is told, arrives. */
  cutOff(name: string): void;
  /** It hears and is heard again. */
  cutIn(name: string): void;
  readonly counts: { sent: number; lost: number };
}

export const createRoughBus = ({ random, lost, maxDelayMs }: RoughBusOptions): RoughBus => {
  const hub = createLocalBusHub();
  const counts = { sent: 0, lost: 0 };
  const away = new Set<string>();
  return {
    counts,
    cutOff: (name) => void away.add(name),
    cutIn: (name) => void away.delete(name),
    join: (name) => {
      const inner = hub.join(name, (error) => {
        throw error;
      });
      const waiting = new Set<NodeJS.Timeout>();
      const queues = new Map<keyof BusMessages, Array<() => void>>();
      /** Whichever timer is first brings the message that was sent first. */
      const later = (channel: keyof BusMessages, deliver: () => void): void => {
        const queue = queues.get(channel) ?? [];
        queues.set(channel, queue);
        queue.push(deliver);
        const timer = setTimeout(() => {
          waiting.delete(timer);
          queue.shift()?.();
        }, random() * maxDelayMs);
        waiting.add(timer);
      };
      return {
        name,
        isAlone: () => false,
        publish: (channel, message) => {
          counts.sent++;
          const text = JSON.stringify(message);
          if (away.has(name) || random() < lost) {
            counts.lost++;
            return;
          }
          later(channel, () => inner.publish(channel, JSON.parse(text)));
        },
        subscribe: (channel, fn): Disposable => inner.subscribe(channel, (message) => void (away.has(name) || fn(message))),
        onGap: inner.onGap,
        state: inner.state,
        close: async () => {
          for (const timer of waiting) clearTimeout(timer);
          waiting.clear();
          await inner.close();
        },
      };
    },
  };
};
