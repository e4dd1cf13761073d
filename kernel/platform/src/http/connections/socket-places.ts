/** How many WebSockets a network and a person have, from the moment that an upgrade is considered until its connection is gone. */
import type { Duplex } from 'node:stream';

export interface SocketPlaces {
  /** Takes a place until the connection closes. Answers how many others there are. */
  take(socket: Duplex, network: string, person: string): { readonly ofNetwork: number; readonly ofPerson: number };
}

export const createSocketPlaces = (): SocketPlaces => {
  const ofNetworks = new Map<string, number>();
  const ofPeople = new Map<string, number>();
  return {
    take: (socket, network, person) => {
      const others = { ofNetwork: ofNetworks.get(network) ?? 0, ofPerson: ofPeople.get(person) ?? 0 };
      if (socket.destroyed) return others;
      add(ofNetworks, network, 1);
      add(ofPeople, person, 1);
      socket.once('close', () => {
        add(ofNetworks, network, -1);
        add(ofPeople, person, -1);
      });
      return others;
    },
  };
};

const add = (counts: Map<string, number>, name: string, by: number): void => {
  const count = (counts.get(name) ?? 0) + by;
  if (count > 0) counts.set(name, count);
  else counts.delete(name);
};
