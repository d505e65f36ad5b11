/**
 * Defines the desktop program's functions that the page can call. The main process validates all
 * input, so this script does not.
 */
import { contextBridge, ipcRenderer, type IpcRendererEvent, webUtils } from 'electron'
import type { Reply, RunMessage } from '../../contract'

const bridge = {
  call: (name: string, input: unknown): Promise<Reply<unknown>> =>
    ipcRenderer.invoke('kernel-ladder:call', { name: String(name), input }),

  /**
   * Imports a file that the user dropped or chose. The page must pass the file itself, not a path.
   */
  importFile: (file: File): Promise<Reply<unknown>> =>
    ipcRenderer.invoke('kernel-ladder:import', webUtils.getPathForFile(file)),

  /** Returns the folder that the user chose in the system dialog, or null if the user canceled. */
  chooseFolder: (): Promise<string | null> => ipcRenderer.invoke('kernel-ladder:choose-folder'),

  /** Subscribes to run messages. Returns a function that unsubscribes. */
  subscribe: (listener: (message: RunMessage) => void): (() => void) => {
    // Don't pass the event object to the page, because the event's sender would give the page
    // access to every channel.
    const deliver = (_event: IpcRendererEvent, message: RunMessage): void => listener(message)
    ipcRenderer.on('kernel-ladder:event', deliver)
    return () => {
      ipcRenderer.removeListener('kernel-ladder:event', deliver)
    }
  },
}

/** Type of `window.kernelLadder` in the page. */
export type KernelLadderBridge = typeof bridge

contextBridge.exposeInMainWorld('kernelLadder', bridge)
