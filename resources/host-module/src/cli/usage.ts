export const usage = `tessera-host: the GPUs of this host, and how they are divided

  tessera-host inventory [--from DIR|FILE]     what is there, or what captured output says
                                               --layout: as JSON for defrag plan, nothing of it movable
  tessera-host watch [--interval MS]           what changes, a line of JSON each time
  tessera-host bundle DIR                      captured output of the driver, for support
  tessera-host doctor                          what is missing here, and how to fix it

  tessera-host mig plan WISH                   the steps to a layout, with the exact commands
  tessera-host mig apply WISH [--dry-run] [--reason TEXT]
  tessera-host mig undo [OPERATION] [--dry-run]
  tessera-host mig status                      operations, open ones first, and saved layouts
  tessera-host mig recover OPERATION --way finish|roll-back
  tessera-host mig save                        keep the layouts for the next boot
  tessera-host mig restore [--dry-run]         bring the saved layouts back

  tessera-host defrag plan --layout FILE [--layout FILE]... [--goal price:N|free-gpus[:N]] [--max-moves N] [--max-cost N] [--spare N]
                           [--tenant NAME]... [--host NAME]... [--at TIME]
                           [--mode in-use|free-space] [--what-if-all-move]
                                               the cheapest moves that bring whole GPUs free, with what no plan
                                               could do better; works on a file alone and changes nothing

  tessera-host me                              your role here, your tenants and projects
  tessera-host tenants                         tenants, projects and people that you may see
  tessera-host audit list|export [--tenant ID] the record of every change; export is CSV, --json JSON Lines
  tessera-host audit verify                    whether anybody edited, removed or moved a row of it
  tessera-host ledger create [--engine auto|local|slurm]
                                               makes this host the control host of its cluster
  tessera-host ledger check | backup FILE
  tessera-host timer                           ends grants and begins periods anew, where they are due
  tessera-host slurm guard install|remove|status [--card TYPE=MODEL] [--take-over]
                                               the job_submit.lua that refuses GPUs without type and counts
                                               card shares and GPU memory
  tessera-host call COMMAND [--input JSON|-]   any command of the protocol, JSON in and out

  tessera-host install [--sudo-group GROUP] [--restore-on-boot] [--root DIR]
  tessera-host uninstall --version VERSION | --all [--root DIR]
  tessera-host hello | --version | --help
  tessera-host serve                           JSON-RPC on standard input and output

WISH is  --gpu UUID|INDEX[,...]|all  with one of
           --layout "3g.40gb@4,1g.10gb@0"      profile@start, compute instances as 3g.40gb@4(1c@0,2c@1);
                                               "empty" for none
           --preset "3g+4x1g.10gb"             placed for you; "empty" for none
           --mig-off                           no instances, MIG mode disabled
         or  --file WANTED.json                the request as the console sends it ("-" reads standard input)
         and --keep-in-use                     with --preset: instances in use stay where they are

--json prints the answer as the protocol has it. Exit status: 0 done, 1 failed (the reason is on
standard error), 2 wrong usage.
`;
