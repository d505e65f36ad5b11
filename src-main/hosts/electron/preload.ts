/**
 * Everything that the page can reach of the desktop program. The main process validates all input, so nothing is
 * checked here.
 */
import { contextBridge, ipcRenderer, type IpcRendererEvent, webUtils } from 'electron'
import type { Reply, RunMessage } from '../../contract'

const bridge = {
  call: (name: string, input: unknown): Promise<Reply<unknown>> =>
    ipcRenderer.invoke('kernel-ladder:call', { name: String(name), input }),

  /** Imports a file that the user dropped or chose. The page cannot name a path. */
  importFile: (file: File): Promise<Reply<unknown>> =>
    ipcRenderer.invoke('kernel-ladder:import', webUtils.getPathForFile(file)),

  /** Returns the user's choice in the system's dialog; null if there is none. */
  chooseFolder: (): Promise<string | null> => ipcRenderer.invoke('kernel-ladder:choose-folder'),

  /** Returns a function that ends the subscription. */
  subscribe: (listener: (message: RunMessage) => void): (() => void) => {
    // The event object is withheld: through its sender the page could reach every channel.
    const deliver = (_event: IpcRendererEvent, message: RunMessage): void => listener(message)
    ipcRenderer.on('kernel-ladder:event', deliver)
    return () => {
      ipcRenderer.removeListener('kernel-ladder:event', deliver)
    }
  },
}

/** The type of `window.kernelLadder` in the page. */
export type KernelLadderBridge = typeof bridge

contextBridge.exposeInMainWorld('kernelLadder', bridge)
