/**
 * All that the page can reach of the desktop program. Nothing is checked here: the main process
 * trusts this side no more than any other.
 */
import { contextBridge, ipcRenderer, type IpcRendererEvent, webUtils } from 'electron'
import type { Reply, RunMessage } from '../../contract'

const bridge = {
  call: (name: string, input: unknown): Promise<Reply<unknown>> =>
    ipcRenderer.invoke('kernel-ladder:call', { name: String(name), input }),

  /** A file that the reader dropped or chose; the page never gets to name a path of its own. */
  importFile: (file: File): Promise<Reply<unknown>> =>
    ipcRenderer.invoke('kernel-ladder:import', webUtils.getPathForFile(file)),

  /** What the reader chose in the system's dialog; null for nothing. */
  chooseFolder: (): Promise<string | null> => ipcRenderer.invoke('kernel-ladder:choose-folder'),

  /** Returns a function that ends the subscription. */
  subscribe: (listener: (message: RunMessage) => void): (() => void) => {
    // The event object is kept back: through its sender the page could reach every channel.
    const deliver = (_event: IpcRendererEvent, message: RunMessage): void => listener(message)
    ipcRenderer.on('kernel-ladder:event', deliver)
    return () => {
      ipcRenderer.removeListener('kernel-ladder:event', deliver)
    }
  },
}

/** What the page sees as `window.kernelLadder`. */
export type KernelLadderBridge = typeof bridge

contextBridge.exposeInMainWorld('kernelLadder', bridge)
